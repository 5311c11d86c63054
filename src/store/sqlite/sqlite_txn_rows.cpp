// Writes the rows for a transaction's appends and deletions.
#include "base/assert.h"
#include "store/batch_codec.h"
#include "store/sqlite/change_rows.h"
#include "store/sqlite/leftovers.h"
#include "store/sqlite/sqlite_txn.h"

namespace shepherd {

Result<void> SqliteTxn::set_meta(const char* name, std::uint64_t value) {
  auto done = database_.use("UPDATE meta SET value = ? WHERE name = ?", value, std::string_view(name)).run();
  if (!done) return broken(std::move(done.error()));
  return {};
}

Result<void> SqliteTxn::note(ChangeKind kind, const std::string& name, const std::string& key) {
  // The events before it get their positions first.
  if (auto done = store_batches(); !done) return done;
  Change change{++counters_.change, counters_.position, kind, name, key};
  if (auto done = add_change(database_, change); !done) return broken(std::move(done.error()));
  commit_.changes.push_back(std::move(change));
  return {};
}

Result<void> SqliteTxn::atomically(const std::function<Result<void>(WriteTxn&)>& operation) {
  // From here on the builder has the operation's events alone, so dropping it undoes them.
  if (broken_) return fail(*broken_);
  if (auto done = store_batches(); !done) return done;
  if (auto begun = database_.use("SAVEPOINT operation").run(); !begun) return broken(std::move(begun.error()));
  heads_.begin_part();
  WriterCounters counters = counters_;
  std::size_t batches = commit_.batches.size(), changes = commit_.changes.size(), deleted = deleted_.size();
  std::vector<BatchPtr> kept;
  if (batches > 0) kept = commit_.batches;  // a deletion in the operation removes from it
  auto done = operation(*this);
  if (broken_) {
    heads_.end_part();
    return fail(*broken_);
  }
  if (done) {
    heads_.end_part();
  } else {
    builder_ = {};
    pending_details_.clear();
    if (auto undone = database_.use("ROLLBACK TO operation").run(); !undone) return broken(std::move(undone.error()));
    heads_.undo_part();
    counters_ = counters;
    commit_.batches = std::move(kept);
    commit_.changes.resize(changes);
    deleted_.resize(deleted);
  }
  if (auto released = database_.use("RELEASE operation").run(); !released) return broken(std::move(released.error()));
  return done;
}

Result<void> SqliteTxn::store_batches() {
  for (const StoredBatch& stored : builder_.take(counters_.position)) {
    if (auto done = store_batch(stored); !done) return broken(std::move(done.error()));
    if (auto done = store_details(*stored.batch); !done) return broken(std::move(done.error()));
    commit_.batches.push_back(stored.batch);
  }
  return {};
}

Result<void> SqliteTxn::store_batch(const StoredBatch& stored) {
  const EventBatch& batch = *stored.batch;
  auto head = heads_.find(batch.task);
  if (!head) return fail(std::move(head.error()));
  std::optional<std::int64_t> producer;
  std::optional<std::uint64_t> producer_first, loose_first;
  if (stored.producer) {
    auto key = producer_key(**head, *stored.producer);
    if (!key) return fail(std::move(key.error()));
    if (stored.producer->empty()) {
      loose_first = stored.producer_first;
    } else {
      producer = *key;
      producer_first = stored.producer_first;
    }
  }
  heads_.add_batch(**head, {batch.last(), batch.last_position()});
  heads_.tell(**head);
  encode_batch(batch, index_buffer_, events_buffer_);
  return database_
      .use(
          "INSERT INTO run(position, task, last, count, types, received_first, received_last, producer,"
          " producer_first, loose_first, lengths, events) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
          batch.last_position(), (*head)->key, batch.last(), static_cast<std::uint64_t>(batch.size()),
          std::uint64_t{mask_of(batch)}, stored.first_received_ms, batch.received_ms, producer, producer_first,
          loose_first, Blob{index_buffer_}, std::string_view(events_buffer_))
      .run();
}

Result<std::int64_t> SqliteTxn::producer_key(WriterHead& head, const std::string& producer) {
  auto known = head.producer_rows.find(producer);
  if (known != head.producer_rows.end()) return known->second.key;
  // The numbers are written with the projection; until then the batches contain them.
  auto done =
      database_.use("INSERT INTO producer(task, name, high, holes) VALUES(?, ?, 0, '')", head.key, producer).run();
  if (!done) return fail(std::move(done.error()));
  head.producer_rows[producer].key = database_.last_key();
  return database_.last_key();
}

Result<void> SqliteTxn::store_details(const EventBatch& batch) {
  if (pending_details_.empty()) return {};
  auto pending = pending_details_.find(batch.task);
  if (pending == pending_details_.end()) return {};
  auto& details = pending->second;
  auto detail = details.begin();
  for (; detail != details.end() && detail->sequence <= batch.last(); ++detail) {
    std::uint64_t position = batch.position + (detail->sequence - batch.first);
    auto done = database_.use("INSERT INTO detail(position, blob) VALUES(?, ?)", position, detail->blob).run();
    if (!done) return done;
  }
  details.erase(details.begin(), detail);
  return {};
}

Result<std::int64_t> SqliteTxn::store_blob(std::string_view detail) {
  std::string hash = content_hash(detail);
  {
    auto row = database_.use("UPDATE blob SET refs = refs + 1 WHERE hash = ? RETURNING key", Blob{hash});
    auto found = row.step();
    if (!found) return fail(std::move(found.error()));
    if (*found) {
      std::int64_t key = row.integer(0);
      auto done = row.run();
      if (!done) return fail(std::move(done.error()));
      return key;
    }
  }
  std::string bytes = details_.compress(detail);
  auto done = database_.use("INSERT INTO blob(hash, refs, bytes) VALUES(?, 1, ?)", Blob{hash}, Blob{bytes}).run();
  if (!done) return fail(std::move(done.error()));
  counters_.detail_bytes += bytes.size();
  changed_blobs_ = true;
  return database_.last_key();
}

Result<void> SqliteTxn::erase_batches(WriterHead& head, std::uint64_t through) {
  if (auto done = heads_.place_batches(head); !done) return broken(std::move(done.error()));
  std::vector<std::pair<std::uint64_t, std::uint64_t>> positions;
  {
    auto row = database_.use(
        "DELETE FROM run WHERE position IN (SELECT position FROM run_place WHERE task = ? AND last <= ?)"
        " RETURNING position, count",
        head.key, through);
    for (;;) {
      auto found = row.step();
      if (!found) return broken(std::move(found.error()));
      if (!*found) break;
      positions.emplace_back(row.number(0) - row.number(1) + 1, row.number(0));
      counters_.events -= row.number(1);
    }
  }
  auto erased = database_.use("DELETE FROM run_place WHERE task = ? AND last <= ?", head.key, through).run();
  if (!erased) return broken(std::move(erased.error()));
  if (!positions.empty()) erased_events_ = freed_pages_ = true;
  SHEPHERD_ASSERT(head.unplaced.empty(), "only batches that have their place are erased");
  for (auto [first, last] : positions) {
    auto details = erase_details(database_, first, last);
    if (!details) return broken(std::move(details.error()));
    counters_.detail_bytes -= details->freed;
    if (details->freed > 0) changed_blobs_ = true;
  }
  return {};
}

}  // namespace shepherd
