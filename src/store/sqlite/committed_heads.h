// The newest committed state of the tasks in the writer's memory, for readers. The rows on disk may be behind, because
// projections are written only from time to time, so a reader looks here first. Changed only after a commit.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "model/task.h"
#include "store/change.h"
#include "store/sqlite/batch_rows.h"

namespace shepherd {

struct CommittedHead {
  std::int64_t key = 0;  // key of the task's row
  RowPtr row;
  std::string complete;  // data of task_complete; empty while the task is active
  std::vector<BatchPlace> unplaced;
};

// The part of a head that reading a log needs.
struct LogBounds {
  std::int64_t key = 0;
  std::uint64_t first = 0, last = 0;
  std::string complete;
  std::vector<BatchPlace> unplaced;  // those of the requested part, for a BatchWalk
};

// The part of a log that a reader will walk: at most this many batches from the one that contains `number`.
struct LogPart {
  std::uint64_t number = 0;
  bool upward = true;
  std::size_t batches = 0;
};

// Totals over all logs.
struct StoreTotals {
  std::uint64_t position = 0;      // newest position
  std::uint64_t change = 0;        // newest change
  std::uint64_t events = 0;        // still kept
  std::uint64_t detail_bytes = 0;  // compressed
};

// Threads: any.
class CommittedHeads {
 public:
  std::optional<LogBounds> bounds(const std::string& task, LogPart part) const EXCLUDES(mutex_);
  // Batches that are missing in the table run_place.
  std::vector<BatchPlace> unplaced(const std::string& task) const EXCLUDES(mutex_);
  RowPtr row(const std::string& task) const EXCLUDES(mutex_);  // nullptr: it is on disk
  std::optional<std::uint64_t> last(const std::string& task) const EXCLUDES(mutex_);
  StoreTotals totals() const EXCLUDES(mutex_);

  struct Change {
    const std::string* task;
    std::int64_t key;
    RowPtr row;                              // nullptr: the task was deleted
    bool placed = false;                     // the table now has all batches of earlier commits
    std::span<const BatchPlace> unplaced{};  // further batches that it does not have
  };
  // Applies one commit; readers see all of it at once.
  void commit(const std::vector<Change>& changes, const StoreTotals& totals) EXCLUDES(mutex_);
  // Called at start, before the first commit.
  void load_unplaced(const std::string& task, std::vector<BatchPlace> batches) EXCLUDES(mutex_);
  // Drops tasks whose rows on disk are up to date again.
  void forget(const std::vector<std::string>& tasks) EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  std::unordered_map<std::string, CommittedHead> heads_ GUARDED_BY(mutex_);
  StoreTotals totals_ GUARDED_BY(mutex_);
};

}  // namespace shepherd
