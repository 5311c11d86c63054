// The newest committed state of the tasks the writer has in memory, for readers: their rows on disk may be behind
// (projections are written now and then), so a reader looks here first. Changed only after a commit.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "model/task.h"
#include "store/sqlite/batch_rows.h"

namespace shepherd {

struct CommittedHead {
  std::int64_t key = 0;  // of its row
  TaskState state;
  std::string complete;  // data of task_complete; empty while it runs
  std::vector<BatchPlace> unplaced;
};

// What reading a log needs of a head.
struct LogBounds {
  std::int64_t key = 0;
  std::uint64_t first = 0, last = 0;
  std::string complete;
  std::vector<BatchPlace> unplaced;  // those of the asked part, for a BatchWalk
};

// Which part of a log a reader will walk: at most this many batches from the one that holds `number`.
struct LogPart {
  std::uint64_t number = 0;
  bool upward = true;
  std::size_t batches = 0;
};

// Over all logs.
struct StoreTotals {
  std::uint64_t position = 0;      // newest
  std::uint64_t events = 0;        // kept
  std::uint64_t detail_bytes = 0;  // compressed
};

// Threads: any.
class CommittedHeads {
 public:
  std::optional<LogBounds> bounds(const std::string& task, LogPart part) const EXCLUDES(mutex_);
  // Batches that the table run_place does not have.
  std::vector<BatchPlace> unplaced(const std::string& task) const EXCLUDES(mutex_);
  std::optional<TaskState> state(const std::string& task) const EXCLUDES(mutex_);
  std::optional<std::uint64_t> last(const std::string& task) const EXCLUDES(mutex_);
  StoreTotals totals() const EXCLUDES(mutex_);

  struct Change {
    const std::string* task;
    std::int64_t key;
    const TaskState* state;                  // nullptr: the task is gone
    bool placed = false;                     // the table has all batches of earlier commits
    std::span<const BatchPlace> unplaced{};  // more that it does not have
  };
  // One commit, seen by readers at once.
  void commit(const std::vector<Change>& changes, const StoreTotals& totals) EXCLUDES(mutex_);
  // At start, before the first commit.
  void load_unplaced(const std::string& task, std::vector<BatchPlace> batches) EXCLUDES(mutex_);
  // Tasks whose rows on disk are complete again.
  void forget(const std::vector<std::string>& tasks) EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  std::unordered_map<std::string, CommittedHead> heads_ GUARDED_BY(mutex_);
  StoreTotals totals_ GUARDED_BY(mutex_);
};

}  // namespace shepherd
