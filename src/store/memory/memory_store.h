// The store in memory, for tests and simulation. It gives the same answers as the durable stores and can inject faults.
//
// Shared state holds only committed data. A transaction works on copies of the heads it touches and keeps its new
// batches private; a commit moves them over under the lock, a rollback discards them.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "store/append_plan.h"
#include "store/batch_builder.h"
#include "store/event_store.h"

namespace shepherd {

// A fault to inject into a transaction. fail_after_commit commits it but returns unavailable to the caller, as if the
// answer were lost.
enum class Fault { none, fail_before_commit, fail_after_commit };

// Threads: as EventStore.
class MemoryStore final : public EventStore {
 public:
  // The store calls `faults` once for each transaction, after its operations ran.
  explicit MemoryStore(std::function<Fault()> faults = {});
  ~MemoryStore() override;

  Result<Commit> write(const std::function<void(WriteTxn&)>& operations) override EXCLUDES(mutex_);

  Result<Page> read(const std::string& task, std::uint64_t after, ReadLimit limit) const override EXCLUDES(mutex_);
  Result<Page> read_before(const std::string& task, std::uint64_t before, ReadLimit limit) const override
      EXCLUDES(mutex_);
  Result<Page> read_all(std::uint64_t after, ReadLimit limit) const override EXCLUDES(mutex_);
  Result<std::map<std::string, std::uint64_t>> heads(const std::vector<std::string>& tasks) const override
      EXCLUDES(mutex_);
  Result<ChangePage> changes(Place after, ReadLimit limit) const override EXCLUDES(mutex_);
  Result<Place> newest_place() const override EXCLUDES(mutex_);
  Result<Task> task(const std::string& id) const override EXCLUDES(mutex_);
  Result<TaskRow> row(const std::string& id) const override EXCLUDES(mutex_);
  Result<std::vector<TaskRow>> rows(const TaskFilter& filter) const override EXCLUDES(mutex_);
  Result<std::string> detail(const std::string& task, std::uint64_t sequence) const override EXCLUDES(mutex_);
  Result<std::optional<Checkpoint>> checkpoint(const std::string& task, std::uint64_t at) const override
      EXCLUDES(mutex_);
  Result<std::map<std::string, std::string>> records(const std::string& kind) const override EXCLUDES(mutex_);
  Result<std::string> record(const std::string& kind, const std::string& key) const override EXCLUDES(mutex_);
  Result<std::vector<Lease>> leases(LeaseKind kind) const override EXCLUDES(mutex_);
  Result<std::vector<Lease>> leases(LeaseKind kind, const std::string& name) const override EXCLUDES(mutex_);
  Result<std::vector<BatchInfo>> oldest_batches(std::size_t limit) const override EXCLUDES(mutex_);
  Result<StoreStats> stats() const override EXCLUDES(mutex_);

 private:
  friend class MemoryTxn;

  struct Log {
    TaskSpec spec;
    TaskHead head;
    std::int64_t created_ms = 0;
    std::string fingerprint, idempotency_key;
    std::deque<StoredBatch> batches;
    std::map<std::string, std::uint64_t, std::less<>> event_ids;
    std::map<std::uint64_t, std::string> details;
    std::map<std::uint64_t, Checkpoint> checkpoints;

    Task task() const { return {spec, head.state, created_ms}; }
    TaskRow row() const;
    std::string complete() const;  // data of task_complete; empty while the task is active
  };

  const Log* find(const std::string& task) const REQUIRES(mutex_);

  std::function<Fault()> faults_;
  mutable Mutex mutex_;
  std::map<std::string, Log> logs_ GUARDED_BY(mutex_);
  std::map<std::string, std::string> ids_by_key_ GUARDED_BY(mutex_);     // idempotency key -> task
  std::map<std::uint64_t, StoredBatch> by_position_ GUARDED_BY(mutex_);  // by last position
  std::uint64_t position_ GUARDED_BY(mutex_) = 0;
  std::deque<Change> changes_ GUARDED_BY(mutex_);  // the newest kKeptChanges
  std::uint64_t change_ GUARDED_BY(mutex_) = 0;
  std::map<std::string, std::map<std::string, std::string>> records_ GUARDED_BY(mutex_);
  std::map<LeaseKey, Lease> leases_ GUARDED_BY(mutex_);
};

}  // namespace shepherd
