// One transaction of the SQLite store, between BEGIN and COMMIT. Appends collect batches in memory. They become rows
// when the transaction ends, or before an operation that must see them.
//
// A failure of SQLite itself breaks the transaction: every later operation and finish() return that error, and the
// owner rolls back.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sqlite/database.h"
#include "store/batch_builder.h"
#include "store/detail_codec.h"
#include "store/event_store.h"
#include "store/sqlite/committed_heads.h"
#include "store/sqlite/writer_heads.h"

namespace shepherd {

// The writer's counters. A transaction works on a copy, which replaces the original on commit.
struct WriterCounters : StoreTotals {
  std::uint64_t unprojected = 0;  // events since all projections were written
};

enum class Flush {
  no,
  projections,  // every projection that is behind
  everything    // every projection, and the places of all batches
};

// Threads: caller.
class SqliteTxn final : public WriteTxn {
 public:
  SqliteTxn(Database& database, WriterHeads& heads, DetailCodec& details, const WriterCounters& counters)
      : database_(database),
        heads_(heads),
        details_(details),
        counters_(counters),
        position_before_(counters.position) {
    commit_.before = {counters.position, counters.change};
  }

  Result<Created> create_task(const TaskSpec& spec, std::int64_t created_ms,
                              const std::string& idempotency_key) override;
  Result<TaskRow> row(const std::string& id) override;
  Result<Task> task(const std::string& id) override;
  Result<Task> update_task(const TaskSpec& spec) override;
  Result<void> delete_task(const std::string& task) override;
  Result<bool> erase_leftovers(std::size_t rows) override;
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
  std::uint64_t position() const override { return position_before_; }
  Result<void> atomically(const std::function<Result<void>(WriteTxn&)>& operation) override;

  // Writes what this transaction still has in memory, and as much from earlier ones as `flush` says. Leaves at most
  // `unplaced` batches without a place. The owner executes COMMIT.
  Result<void> finish(Flush flush, std::size_t unplaced);

  Commit& commit() { return commit_; }
  const WriterCounters& counters() const { return counters_; }
  const std::vector<std::string>& deleted() const { return deleted_; }
  bool freed_pages() const { return freed_pages_; }

 private:
  struct PendingDetail {
    std::uint64_t sequence;
    std::int64_t blob;
  };

  // Stores a failure of the database and returns it.
  std::unexpected<Error> broken(Error error);
  // The same for a whole result.
  template <class T>
  Result<T> or_broken(Result<T> result) {
    if (!result) return broken(std::move(result.error()));
    return result;
  }
  // The same for reading one task before changing it: a damaged log affects only that task, not the transaction.
  std::unexpected<Error> unreadable(Error error);
  Result<WriterHead*> find(const std::string& task);  // not_found/unknown_task, never nullptr
  Result<Created> known_task(const std::string& id, std::string_view request, const char* reason, const char* message);
  Result<void> store_batches();
  Result<void> store_batch(const StoredBatch& stored);
  Result<std::int64_t> producer_key(WriterHead& head, const std::string& producer);
  Result<void> store_details(const EventBatch& batch);
  Result<std::int64_t> store_blob(std::string_view detail);
  Result<void> erase_batches(WriterHead& head, std::uint64_t through);
  Result<void> set_meta(const char* name, std::uint64_t value);
  Result<void> store_record(const std::string& kind, const std::string& key, const std::string& value);
  // Adds a change that is no event to the stream.
  Result<void> note(ChangeKind kind, const std::string& name, const std::string& key = {});

  Database& database_;
  WriterHeads& heads_;
  DetailCodec& details_;
  WriterCounters counters_;
  std::uint64_t position_before_;
  BatchBuilder builder_;
  std::map<std::string, std::vector<PendingDetail>> pending_details_;
  Commit commit_;
  std::vector<std::string> deleted_;
  bool erased_events_ = false;
  bool freed_pages_ = false;
  bool changed_blobs_ = false;
  std::optional<Error> broken_;
  std::string index_buffer_, events_buffer_;
};

}  // namespace shepherd
