// The end of a transaction: everything that it collected becomes rows.
#include <utility>

#include "base/assert.h"
#include "model/task_fold.h"
#include "model/wire_json.h"
#include "store/batch_codec.h"
#include "store/limits.h"
#include "store/postgres/postgres_txn.h"

namespace shepherd {

bool PostgresTxn::changes_something() const {
  if (!work_.batches.empty() || !work_.changes.empty() || !work_.records.empty() || !work_.leases.empty()) return true;
  if (work_.detail_bytes != 0) return true;
  for (const auto& [id, working] : working_) {
    if (working.changed || working.created || !working.checkpoints.empty()) return true;
  }
  return false;
}

void PostgresTxn::write_tasks() {
  for (std::int64_t key : work_.deleted) {
    connection_.send("DELETE FROM task_spec WHERE task = $1", key);
    connection_.send("DELETE FROM task WHERE key = $1", key);
    connection_.send("INSERT INTO leftover(task) VALUES($1)", key);
  }
  for (auto& [id, working] : working_) {
    if (!working.deleted) write_task(id, working);
  }
}

void PostgresTxn::write_task(const std::string& id, const Working& working) {
  const KeptHead& kept = working.kept;
  const TaskState& state = kept.head.state;
  if (working.created || working.changed) {
    std::string info = encode_task_info(kept.info);
    std::string projection = encode_task_state(state);
    if (working.created) {
      std::optional<std::string_view> idempotency_key;
      if (!working.idempotency_key.empty()) idempotency_key = working.idempotency_key;
      connection_.send(
          "INSERT INTO task(key, id, version, created, request, idempotency_key, agent, workflow, state, first, last,"
          " info, projection) VALUES($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
          kept.key, id, kept.version, kept.created_ms, Bytea{working.request}, idempotency_key, kept.info.agent,
          kept.info.workflow_id, name(state.state), state.first_sequence, state.last_sequence, info, projection);
    } else {
      connection_.send(
          "UPDATE task SET version = version + 1, state = $2, first = $3, last = $4, info = $5, projection = $6"
          " WHERE key = $1",
          kept.key, name(state.state), state.first_sequence, state.last_sequence, info, projection);
    }
  }
  if (working.spec) {
    std::string spec = encode_task_spec(*working.spec);
    connection_.send(
        "INSERT INTO task_spec(task, spec) VALUES($1, $2) ON CONFLICT (task) DO UPDATE SET spec = excluded.spec",
        kept.key, spec);
  }
  write_log_of(working);
}

void PostgresTxn::write_log_of(const Working& working) {
  const KeptHead& kept = working.kept;
  if (working.dropped_through > 0) erase_dropped(working);
  for (const std::string& producer : working.producers) {
    const ProducerNumbers& numbers = kept.head.producers.at(producer);
    connection_.send(
        "INSERT INTO producer(task, name, high, holes) VALUES($1, $2, $3, $4)"
        " ON CONFLICT (task, name) DO UPDATE SET high = excluded.high, holes = excluded.holes",
        kept.key, producer, numbers.high(), numbers.encode_holes());
  }
  for (const auto& [event_id, sequence] : working.event_ids) {
    connection_.send(
        "INSERT INTO event_key(task, event_id, sequence) VALUES($1, $2, $3)"
        " ON CONFLICT (task, event_id) DO UPDATE SET sequence = excluded.sequence",
        kept.key, event_id, sequence);
  }
  for (const auto& [sequence, detail] : working.details) {
    std::string hash = content_hash(detail);
    // Another use of the same content only counts; a new one adds its size to the sum.
    std::string bytes = details_.compress(detail);
    sizes_.push_back(connection_.send(
        "WITH put AS (INSERT INTO blob(hash, refs, bytes) VALUES($1, 1, $2)"
        " ON CONFLICT (hash) DO UPDATE SET refs = blob.refs + 1 RETURNING xmax = 0 AS fresh, length(bytes) AS size)"
        " SELECT coalesce(sum(size) FILTER (WHERE fresh), 0)::bigint FROM put",
        Bytea{hash}, Bytea{bytes}));
    connection_.send("INSERT INTO detail(task, sequence, blob) VALUES($1, $2, $3)", kept.key, sequence, Bytea{hash});
  }
  for (const auto& [sequence, checkpoint] : working.checkpoints) {
    std::string state = encode_task_state(checkpoint.state);
    connection_.send(
        "INSERT INTO checkpoint(task, sequence, whole, state) VALUES($1, $2, $3 = 1, $4) ON CONFLICT DO NOTHING",
        kept.key, sequence, checkpoint.whole ? 1 : 0, state);
  }
}

void PostgresTxn::erase_dropped(const Working& working) {
  std::int64_t key = working.kept.key;
  std::uint64_t through = working.dropped_through;
  connection_.send("DELETE FROM batch WHERE task = $1 AND last <= $2", key, through);
  connection_.send("DELETE FROM event_key WHERE task = $1 AND sequence <= $2", key, through);
  connection_.send("DELETE FROM checkpoint WHERE task = $1 AND sequence < $2", key, through);
  connection_.send(
      "WITH gone AS (DELETE FROM detail WHERE task = $1 AND sequence <= $2 RETURNING blob),"
      " uses AS (SELECT blob, count(*) AS number FROM gone GROUP BY blob)"
      " UPDATE blob SET refs = refs - uses.number FROM uses WHERE blob.hash = uses.blob",
      key, through);
  sizes_.push_back(
      connection_.send("WITH freed AS (DELETE FROM blob WHERE refs <= 0 RETURNING length(bytes) AS size)"
                       " SELECT -coalesce(sum(size), 0)::bigint FROM freed"));
}

Result<bool> PostgresTxn::erase_leftovers(std::size_t rows) {
  if (auto saved = savepoint(); !saved) return fail(std::move(saved.error()));
  // Another replica removes another task's.
  auto task = run("SELECT task FROM leftover ORDER BY task LIMIT 1 FOR UPDATE SKIP LOCKED");
  if (!task) return fail(std::move(task.error()));
  if (task->empty()) return false;
  std::int64_t key = task->integer(0, 0);
  auto most = static_cast<std::uint64_t>(rows);
  constexpr const char* kParts[] = {
      "DELETE FROM batch WHERE position IN (SELECT position FROM batch WHERE task = $1 ORDER BY last LIMIT $2)",
      "DELETE FROM event_key WHERE task = $1 AND event_id IN"
      " (SELECT event_id FROM event_key WHERE task = $1 LIMIT $2)",
      "DELETE FROM producer WHERE task = $1 AND name IN (SELECT name FROM producer WHERE task = $1 LIMIT $2)",
      "DELETE FROM checkpoint WHERE task = $1 AND sequence IN"
      " (SELECT sequence FROM checkpoint WHERE task = $1 LIMIT $2)",
      "WITH gone AS (DELETE FROM detail WHERE task = $1 AND sequence IN"
      " (SELECT sequence FROM detail WHERE task = $1 ORDER BY sequence LIMIT $2) RETURNING blob),"
      " uses AS (SELECT blob, count(*) AS number FROM gone GROUP BY blob)"
      " UPDATE blob SET refs = refs - uses.number FROM uses WHERE blob.hash = uses.blob"};
  std::uint64_t erased = 0;
  for (const char* part : kParts) {
    auto done = run(part, key, most);
    if (!done) return fail(std::move(done.error()));
    erased += done->changed();
    if (erased >= most) break;
  }
  auto freed =
      run("WITH freed AS (DELETE FROM blob WHERE refs <= 0 RETURNING length(bytes) AS size)"
          " SELECT coalesce(sum(size), 0)::bigint FROM freed");
  if (!freed) return fail(std::move(freed.error()));
  work_.detail_bytes -= freed->integer(0, 0);
  if (erased == 0) {
    auto done = run("DELETE FROM leftover WHERE task = $1", key);
    if (!done) return fail(std::move(done.error()));
  }
  auto more = run("SELECT count(*) FROM leftover");
  if (!more) return fail(std::move(more.error()));
  return more->integer(0, 0) > 0;
}

// Numbers the next changes of the transaction, up to those that come after `batches` of its batches.
void PostgresTxn::number_changes(Commit& commit, std::size_t batches) {
  while (commit.changes.size() < work_.changes.size()) {
    NewChange& next = work_.changes[commit.changes.size()];
    if (next.batches > batches) return;
    Change change{++change_, position_, next.kind, std::move(next.name), std::move(next.key)};
    connection_.send("INSERT INTO change(number, after, kind, name, key) VALUES($1, $2, $3, $4, $5)", change.number,
                     change.after, static_cast<int>(change.kind), change.name, change.key);
    if (change.number % kChangeTrim == 0 && change.number > kKeptChanges) {
      connection_.send("DELETE FROM change WHERE number <= $1", change.number - kKeptChanges);
    }
    commit.changes.push_back(std::move(change));
  }
}

void PostgresTxn::write_batch(const StoredBatch& stored) {
  const EventBatch& batch = *stored.batch;
  encode_batch(batch, index_buffer_, events_buffer_);
  std::optional<std::uint64_t> producer_first;
  if (stored.producer) producer_first = stored.producer_first;
  connection_.send(
      "INSERT INTO batch(position, task, last, count, types, received_first, received_last, producer, producer_first,"
      " lengths, events) VALUES($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
      batch.last_position(), working_.at(batch.task).kept.key, batch.last(), static_cast<std::uint64_t>(batch.size()),
      std::uint64_t{mask_of(batch)}, stored.first_received_ms, batch.received_ms, stored.producer, producer_first,
      Bytea{index_buffer_}, std::string_view(events_buffer_));
}

Result<Commit> PostgresTxn::write_numbered(Place before) {
  Commit commit;
  commit.before = before;
  position_ = before.position;
  change_ = before.change;
  std::set<std::string> touched;
  for (std::size_t i = 0; i < work_.batches.size(); ++i) {
    number_changes(commit, i);
    const StoredBatch& stored = work_.batches[i];
    stored.batch->position = position_ + 1;
    position_ = stored.batch->last_position();
    write_batch(stored);
    touched.insert(stored.batch->task);
    commit.batches.push_back(stored.batch);
  }
  number_changes(commit, work_.batches.size());
  commit.through = {position_, change_};
  connection_.send("COMMIT");
  auto done = connection_.collect();
  if (!done) return broken(std::move(done.error()));
  for (const Change& change : commit.changes) {
    if (is_of_task(change.kind)) touched.insert(change.name);
  }
  for (const std::string& id : touched) {
    auto working = working_.find(id);
    if (working == working_.end() || working->second.deleted) continue;
    commit.rows.push_back(std::make_shared<TaskRow>(working->second.kept.row()));
  }
  return commit;
}

Result<Commit> PostgresTxn::commit() {
  if (broken_) return fail(*broken_);
  collect();
  Result<Commit> commit;
  if (!changes_something()) {
    commit->before = commit->through = before_;
    if (auto done = run("COMMIT"); !done) return fail(std::move(done.error()));
  } else {
    std::uint64_t events = 0;
    for (const StoredBatch& stored : work_.batches) events += stored.batch->size();
    write_tasks();
    write_names();
    connection_.send(
        "UPDATE counter SET position = position + $1, change = change + $2, events = events + $3"
        " RETURNING position, change",
        events, static_cast<std::uint64_t>(work_.changes.size()), work_.events);
    auto written = connection_.collect();
    if (!written) return broken(std::move(written.error()));
    const PostgresRows& counter = written->back();
    SHEPHERD_ASSERT(counter.size() == 1, "the counter is one row");
    // How much of the content is new is known only now; the counter's row is held already.
    for (std::size_t size : sizes_) work_.detail_bytes += (*written)[size].integer(0, 0);
    if (work_.detail_bytes != 0) {
      connection_.send("UPDATE counter SET detail_bytes = detail_bytes + $1", work_.detail_bytes);
    }
    commit = write_numbered(
        {counter.number(0, 0) - events, counter.number(0, 1) - static_cast<std::uint64_t>(work_.changes.size())});
    if (!commit) return commit;
  }
  for (auto& [id, working] : working_) {
    if (working.deleted) continue;
    if (working.changed && !working.created) ++working.kept.version;
    heads_.keep(id, std::move(working.kept));
  }
  return commit;
}

}  // namespace shepherd
