// One transaction of the PostgreSQL store. Operations read the database under locks (the task's row; advisory locks on
// the names of records and leases, also of those that do not exist) and collect what they change in memory. commit()
// writes it: first everything that needs no position, then the counter, which another replica's commit waits for, then
// the batches and changes with their numbers, together with COMMIT. The counter is thus held for one round trip and the
// write to disk.
//
// A failure of the database breaks the transaction: every later operation and commit() return that error, and the owner
// rolls back.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "postgres/connection.h"
#include "store/append_plan.h"
#include "store/batch_builder.h"
#include "store/detail_codec.h"
#include "store/event_store.h"
#include "store/postgres/head_cache.h"

namespace shepherd {

// Threads: caller.
class PostgresTxn final : public WriteTxn {
 public:
  PostgresTxn(PostgresConnection& connection, HeadCache& heads, DetailCodec& details, Place before)
      : connection_(connection), heads_(heads), details_(details), before_(before) {}

  Result<Created> create_task(const TaskSpec& spec, std::int64_t created_ms,
                              const std::string& idempotency_key) override;
  Result<TaskRow> row(const std::string& id) override;
  Result<Task> task(const std::string& id) override;
  Result<Task> update_task(const TaskSpec& spec) override;
  Result<void> delete_task(const std::string& task) override;
  Result<bool> erase_leftovers(std::size_t rows) override;
  Result<Appended> append(const AppendRequest& request) override;
  Result<void> drop_through(const std::string& task, std::uint64_t through) override;
  Result<void> add_checkpoint(const std::string& task, std::int64_t created_ms, const Checkpoint& checkpoint) override;
  Result<std::string> record(const std::string& kind, const std::string& key) override;
  Result<void> put_record(const std::string& kind, const std::string& key, const std::string& value) override;
  Result<void> keep_cursor(const std::string& name, const std::string& value) override;
  Result<std::vector<Lease>> leases(LeaseKind kind, const std::string& name) override;
  Result<std::vector<Lease>> leases_over(std::int64_t now_ms, std::size_t limit) override;
  Result<void> put_lease(const Lease& lease) override;
  Result<void> end_lease(const LeaseKey& key) override;
  Result<bool> renew_lease(const LeaseRenewal& renewal) override;
  std::uint64_t position() const override { return before_.position; }
  Result<void> atomically(const std::function<Result<void>(WriteTxn&)>& operation) override;

  // Ends the transaction. Afterwards the cache has the heads that it used.
  Result<Commit> commit();

 private:
  // A task as this transaction will leave it.
  struct Working {
    KeptHead kept;
    bool created = false;                  // its row is new
    bool changed = false;                  // its row must be written
    bool deleted = false;                  // `kept` is of nothing
    std::string request, idempotency_key;  // of a created one
    std::optional<TaskSpec> spec;          // of a created or patched one
    std::uint64_t dropped_through = 0;
    std::set<std::string> producers;  // whose numbers changed
    std::map<std::string, std::uint64_t, std::less<>> event_ids;
    std::map<std::uint64_t, std::string> details;
    std::map<std::uint64_t, Checkpoint> checkpoints;
  };
  // What is not an event. `batches` of this transaction come before it; the commit turns that into a position.
  struct NewChange {
    ChangeKind kind;
    std::string name, key;
    std::size_t batches;
  };
  // Everything that an operation can change; a failed one puts the copy back. Tasks are copied when it first uses them.
  struct Work {
    std::vector<StoredBatch> batches;
    std::map<std::string, std::string> new_keys;  // idempotency keys of created tasks
    std::vector<std::int64_t> deleted;            // keys of tasks
    std::map<std::pair<std::string, std::string>, std::string> records;
    std::map<LeaseKey, std::optional<Lease>> leases;  // nullopt: ended here
    std::vector<NewChange> changes;
    std::int64_t events = 0, detail_bytes = 0;  // added to the sums
  };

  // The lookups of plan_append for one task: the transaction's own batches, then the committed ones.
  class Known final : public KnownEvents {
   public:
    Known(PostgresTxn& txn, const Working& working, const std::string& task)
        : txn_(txn), working_(working), task_(task) {}
    Result<std::optional<std::string>> body_of_number(const std::string& producer, std::uint64_t number) override;
    Result<bool> has_event_id(std::string_view event_id) override;

   private:
    PostgresTxn& txn_;
    const Working& working_;
    const std::string& task_;
    // The most recently found batch, because repeats come in series.
    BatchPtr found_;
    std::string found_producer_;
    std::uint64_t found_first_ = 0;
  };

  std::unexpected<Error> broken(Error error);
  template <class... Values>
  Result<PostgresRows> run(const char* sql, const Values&... values) {
    if (broken_) return fail(*broken_);
    auto rows = connection_.run(sql, values...);
    if (!rows) return broken(std::move(rows.error()));
    return rows;
  }

  Result<Working*> find(const std::string& task);      // not_found/unknown_task, never nullptr
  Result<Working*> look_for(const std::string& task);  // nullptr: unknown, or deleted here
  Result<std::optional<KeptHead>> load(const std::string& task);
  void save(const std::string& task);
  Result<Created> known_task(const std::string& id, std::string_view request, const char* reason, const char* message);
  Result<void> lock_name(const char* of, const std::string& name);
  Result<void> savepoint();
  Lease* changed_lease(const LeaseKey& key);  // nullptr: not here, or ended
  void note(ChangeKind kind, std::string name, std::string key = {});
  void collect();  // moves finished batches out of the builder

  void write_tasks();
  void write_task(const std::string& id, const Working& working);
  void write_log_of(const Working& working);
  void write_names();
  void erase_dropped(const Working& working);
  Result<Commit> write_numbered(Place before);
  void number_changes(Commit& commit, std::size_t batches);
  void write_batch(const StoredBatch& stored);
  bool changes_something() const;

  PostgresConnection& connection_;
  HeadCache& heads_;
  DetailCodec& details_;
  const Place before_;
  BatchBuilder builder_;
  Work work_;
  std::map<std::string, Working> working_;
  bool in_part_ = false;
  bool saved_in_database_ = false;
  std::map<std::string, std::optional<Working>> saved_;  // as they were before this part; nullopt: not there
  std::vector<std::size_t> sizes_;                       // answers that say by how much the details grew
  std::uint64_t position_ = 0, change_ = 0;              // the newest numbers given so far
  std::string index_buffer_, events_buffer_;
  std::optional<Error> broken_;
};

}  // namespace shepherd
