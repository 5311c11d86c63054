// One transaction of the memory store.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/append_plan.h"
#include "store/memory/memory_store.h"

namespace shepherd {

// Threads: caller (the thread of write()); takes the store's lock for each access.
class MemoryTxn final : public WriteTxn {
 public:
  explicit MemoryTxn(MemoryStore& store) : store_(store) {}

  Result<Created> create_task(const TaskSpec& spec, std::int64_t created_ms,
                              const std::string& idempotency_key) override;
  Result<TaskRow> row(const std::string& id) override;
  Result<Task> task(const std::string& id) override;
  Result<Task> update_task(const TaskSpec& spec) override;
  Result<void> delete_task(const std::string& task) override;
  Result<bool> erase_leftovers(std::size_t) override { return false; }
  Result<Appended> append(const AppendRequest& request) override;
  Result<void> drop_through(const std::string& task, std::uint64_t through) override;
  Result<std::string> record(const std::string& kind, const std::string& key) override;
  Result<void> add_checkpoint(const std::string& task, std::int64_t created_ms, const Checkpoint& checkpoint) override;
  Result<void> put_record(const std::string& kind, const std::string& key, const std::string& value) override;
  Result<void> keep_cursor(const std::string& name, const std::string& value) override;
  Result<std::vector<Lease>> leases(LeaseKind kind, const std::string& name) override;
  Result<std::vector<Lease>> leases_over(std::int64_t now_ms, std::size_t limit) override;
  Result<void> put_lease(const Lease& lease) override;
  Result<void> end_lease(const LeaseKey& key) override;
  Result<bool> renew_lease(const LeaseRenewal& renewal) override;
  std::uint64_t position() const override;
  Result<void> atomically(const std::function<Result<void>(WriteTxn&)>& operation) override;

  Commit commit();

 private:
  // A task as this transaction will leave it.
  struct Working {
    // Created in this transaction, possibly after a deletion: nothing of the committed log stays.
    bool replaces = false;
    bool deleted = false;
    bool spec_changed = false;
    MemoryStore::Log log;  // has no batches: new ones are in batches_, old ones in the store
    std::uint64_t dropped_through = 0;
  };

  // The lookups of plan_append for one task: the transaction's own batches, then the committed ones.
  class Known final : public KnownEvents {
   public:
    Known(const MemoryTxn& txn, const Working& working, const std::string& task)
        : txn_(txn), working_(working), task_(task) {}

    Result<std::optional<std::string>> body_of_number(const std::string& producer, std::uint64_t number) override;
    Result<bool> has_event_id(std::string_view event_id) override;

   private:
    const MemoryTxn& txn_;
    const Working& working_;
    const std::string& task_;
  };

  Working* find(const std::string& task);  // nullptr: unknown, or deleted here
  std::optional<std::string> task_with_key(const std::string& key);
  void collect();  // moves finished batches out of the builder
  void apply(const std::string& id, Working& working) REQUIRES(store_.mutex_);
  void erase(const std::string& id) REQUIRES(store_.mutex_);

  // What is not an event. `batches` of this transaction come before it; the commit turns that into a position.
  struct NewChange {
    ChangeKind kind;
    std::string name, key;
    std::size_t batches;
  };
  // Everything that an operation can change; a failed one puts the copy back.
  struct Work {
    std::vector<StoredBatch> batches;
    std::map<std::string, Working> working;
    std::map<std::string, std::string> new_keys;
    std::map<std::pair<std::string, std::string>, std::string> records;
    std::map<LeaseKey, std::optional<Lease>> leases;  // nullopt: ended here
    std::vector<NewChange> changes;
  };
  std::map<LeaseKey, Lease> all_leases();
  void note(ChangeKind kind, std::string name, std::string key = {});
  Commit finished() REQUIRES(store_.mutex_);
  void number_changes(Commit& commit, std::size_t batches, std::set<std::string>& touched) REQUIRES(store_.mutex_);

  MemoryStore& store_;
  BatchBuilder builder_;
  Work work_;
};

}  // namespace shepherd
