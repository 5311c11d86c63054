#include "store/postgres/postgres_txn.h"

#include <algorithm>

#include "base/assert.h"
#include "model/task_fold.h"
#include "model/wire_json.h"
#include "store/limits.h"
#include "store/postgres/batch_rows.h"
#include "store/task_match.h"
#include "store/unknown_task.h"

namespace shepherd {

std::unexpected<Error> PostgresTxn::broken(Error error) {
  if (!broken_) broken_ = error;
  return fail(std::move(error));
}

Result<std::optional<std::string>> PostgresTxn::Known::body_of_number(const std::string& producer,
                                                                      std::uint64_t number) {
  if (auto body = txn_.builder_.body_of_number(task_, producer, number)) return std::string(*body);
  auto& batches = txn_.work_.batches;
  for (auto batch = batches.rbegin(); batch != batches.rend(); ++batch) {
    if (batch->batch->task != task_ || batch->batch->last() <= working_.dropped_through) continue;
    if (auto body = batch->body_of_number(producer, number)) return std::string(*body);
  }
  if (working_.created) return std::nullopt;
  bool kept = found_ && found_producer_ == producer && number >= found_first_ && number - found_first_ < found_->size();
  if (!kept) {
    // A producer's numbers are in one batch each, so only the last one that begins before can have it.
    auto rows = txn_.run("SELECT " SHEPHERD_BATCH_COLUMNS
                         ", batch.producer_first FROM batch WHERE task = $1 AND producer = $2 AND producer_first <= $3"
                         " ORDER BY producer_first DESC LIMIT 1",
                         working_.kept.key, producer, number);
    if (!rows) return fail(std::move(rows.error()));
    if (rows->empty() || rows->number(0, kBatchLastColumn) <= working_.dropped_through) return std::nullopt;
    auto batch = batch_in(*rows, 0, task_);
    if (!batch) return fail(std::move(batch.error()));
    found_ = std::move(*batch);
    found_producer_ = producer;
    found_first_ = rows->number(0, kAfterBatch);
    if (number - found_first_ >= found_->size()) return std::nullopt;
  }
  return std::string(body_of(found_->event(number - found_first_)));
}

Result<bool> PostgresTxn::Known::has_event_id(std::string_view event_id) {
  if (working_.event_ids.contains(event_id)) return true;
  if (working_.created) return false;
  auto rows = txn_.run("SELECT sequence FROM event_key WHERE task = $1 AND event_id = $2", working_.kept.key, event_id);
  if (!rows) return fail(std::move(rows.error()));
  return !rows->empty() && rows->number(0, 0) > working_.dropped_through;
}

// Locks the task's row, so that its state stays as it is until the end of the transaction.
Result<std::optional<KeptHead>> PostgresTxn::load(const std::string& task) {
  std::optional<KeptHead> kept = heads_.take(task);
  auto rows =
      run("SELECT key, version, created, CASE WHEN key = $2 AND version = $3 THEN NULL ELSE info END,"
          " CASE WHEN key = $2 AND version = $3 THEN NULL ELSE projection END FROM task WHERE id = $1 FOR UPDATE",
          task, kept ? kept->key : 0, kept ? kept->version : 0);
  if (!rows) return fail(std::move(rows.error()));
  if (rows->empty()) return std::nullopt;
  if (rows->null(0, 3)) return kept;
  kept.emplace();
  kept->key = rows->integer(0, 0);
  kept->version = rows->integer(0, 1);
  kept->created_ms = rows->integer(0, 2);
  kept->info = decode_task_info(rows->bytes(0, 3));
  kept->head.state = decode_task_state(rows->bytes(0, 4));
  auto producers = run("SELECT name, high, holes FROM producer WHERE task = $1", kept->key);
  if (!producers) return fail(std::move(producers.error()));
  for (std::size_t i = 0; i < producers->size(); ++i) {
    kept->head.producers[producers->text(i, 0)] =
        ProducerNumbers::decode(producers->number(i, 1), producers->bytes(i, 2));
  }
  return kept;
}

void PostgresTxn::save(const std::string& task) {
  if (!in_part_ || saved_.contains(task)) return;
  auto known = working_.find(task);
  saved_[task] = known == working_.end() ? std::nullopt : std::optional(known->second);
}

Result<PostgresTxn::Working*> PostgresTxn::look_for(const std::string& task) {
  if (broken_) return fail(*broken_);
  save(task);
  auto known = working_.find(task);
  if (known == working_.end()) {
    auto kept = load(task);
    if (!kept) return fail(std::move(kept.error()));
    if (!*kept) return nullptr;
    known = working_.try_emplace(task).first;
    known->second.kept = std::move(**kept);
  }
  return known->second.deleted ? nullptr : &known->second;
}

Result<PostgresTxn::Working*> PostgresTxn::find(const std::string& task) {
  auto working = look_for(task);
  if (working && *working == nullptr) return unknown_task(task);
  return working;
}

Result<TaskRow> PostgresTxn::row(const std::string& id) {
  auto working = find(id);
  if (!working) return fail(std::move(working.error()));
  return (*working)->kept.row();
}

Result<Task> PostgresTxn::task(const std::string& id) {
  auto working = find(id);
  if (!working) return fail(std::move(working.error()));
  const KeptHead& kept = (*working)->kept;
  if ((*working)->spec) return Task{*(*working)->spec, kept.head.state, kept.created_ms};
  auto rows = run("SELECT spec FROM task_spec WHERE task = $1", kept.key);
  if (!rows) return fail(std::move(rows.error()));
  if (rows->empty()) return unknown_task(id);
  return Task{decode_task_spec(rows->bytes(0, 0)), kept.head.state, kept.created_ms};
}

Result<Created> PostgresTxn::known_task(const std::string& id, std::string_view request, const char* reason,
                                        const char* message) {
  auto working = find(id);
  if (!working) return fail(std::move(working.error()));
  std::string known = (*working)->request;
  if (!(*working)->created) {
    auto rows = run("SELECT request FROM task WHERE key = $1", (*working)->kept.key);
    if (!rows) return fail(std::move(rows.error()));
    if (!rows->empty()) known = rows->text(0, 0);
  }
  if (known != request) return fail(ErrorCode::conflict, reason, message);
  auto found = task(id);
  if (!found) return fail(std::move(found.error()));
  return Created{std::move(*found), true};
}

Result<Created> PostgresTxn::create_task(const TaskSpec& spec, std::int64_t created_ms,
                                         const std::string& idempotency_key) {
  std::string request = content_hash(spec_fingerprint(spec));
  if (!idempotency_key.empty()) {
    auto rows = run("SELECT id FROM task WHERE idempotency_key = $1", idempotency_key);
    if (!rows) return fail(std::move(rows.error()));
    std::string id = rows->empty() ? std::string() : rows->text(0, 0);
    if (auto added = work_.new_keys.find(idempotency_key); added != work_.new_keys.end()) id = added->second;
    auto known = id.empty() ? Result<Working*>(nullptr) : look_for(id);
    if (!known) return fail(std::move(known.error()));
    // A task that this transaction created under the id of a deleted one may have another key.
    if (*known && (!(*known)->created || (*known)->idempotency_key == idempotency_key)) {
      return known_task(id, request, "idempotency_key_reused",
                        "This Idempotency-Key made another task. Use a new key for a new request.");
    }
  }
  auto known = look_for(spec.id);
  if (!known) return fail(std::move(known.error()));
  if (*known) {
    return known_task(spec.id, request, "task_exists", "A task with this id exists with another content.");
  }
  auto key = run("SELECT nextval('task_key')");
  if (!key) return fail(std::move(key.error()));
  Working fresh;
  fresh.kept.key = key->integer(0, 0);
  fresh.kept.version = 1;
  fresh.kept.created_ms = created_ms;
  fresh.kept.info = info_of(spec);
  fresh.created = true;
  fresh.request = std::move(request);
  fresh.idempotency_key = idempotency_key;
  fresh.spec = spec;
  if (!idempotency_key.empty()) work_.new_keys[idempotency_key] = spec.id;
  working_[spec.id] = std::move(fresh);
  note(ChangeKind::task_created, spec.id);
  return Created{Task{spec, {}, created_ms}, false};
}

Result<Task> PostgresTxn::update_task(const TaskSpec& spec) {
  auto working = find(spec.id);
  if (!working) return fail(std::move(working.error()));
  auto known = task(spec.id);
  if (!known) return known;
  known->spec.title = spec.title;
  known->spec.labels = spec.labels;
  (*working)->spec = known->spec;
  (*working)->kept.info = info_of(known->spec);
  (*working)->changed = true;
  note(ChangeKind::task_changed, spec.id);
  return known;
}

Result<void> PostgresTxn::delete_task(const std::string& task) {
  auto working = find(task);
  if (!working) return fail(std::move(working.error()));
  collect();
  for (std::size_t i = work_.batches.size(); i-- > 0;) {
    if (work_.batches[i].batch->task != task) continue;
    work_.batches.erase(work_.batches.begin() + static_cast<std::ptrdiff_t>(i));
    for (NewChange& change : work_.changes) change.batches -= change.batches > i ? 1 : 0;
  }
  const TaskState& state = (*working)->kept.head.state;
  if (state.first_sequence > 0) {
    work_.events -= static_cast<std::int64_t>(state.last_sequence - state.first_sequence + 1);
  }
  if (!(*working)->created) work_.deleted.push_back((*working)->kept.key);
  **working = {};
  (*working)->deleted = true;
  for (LeaseKind kind : {LeaseKind::task, LeaseKind::taker}) {
    auto held = leases(kind, task);
    if (!held) return fail(std::move(held.error()));
    for (const Lease& lease : *held) work_.leases[lease.key] = std::nullopt;
  }
  note(ChangeKind::task_deleted, task);
  return {};
}

Result<Appended> PostgresTxn::append(const AppendRequest& request) {
  auto found = find(request.task);
  if (!found) return fail(std::move(found.error()));
  Working& working = **found;
  TaskHead& head = working.kept.head;
  Known known(*this, working, request.task);
  auto plan = plan_append(head, request, known);
  if (!plan) return fail(std::move(plan.error()));
  const std::uint64_t before = head.state.last_sequence;
  std::uint64_t sequence = before;
  Appended appended = builder_.add(head, request, *plan);
  for (const auto& fresh : plan->fresh) {
    const Draft& draft = request.drafts.drafts[fresh.draft];
    ++sequence;
    if (!draft.event_id.empty() && !fresh.keyed) working.event_ids[draft.event_id] = sequence;
    if (!draft.detail.empty()) working.details[sequence] = draft.detail;
    if (fresh.keyed) working.producers.insert(producer_name(request));
  }
  work_.events += static_cast<std::int64_t>(appended.added);
  working.changed = working.changed || appended.added > 0;
  if (appended.last_sequence / kCheckpointEvents != before / kCheckpointEvents) {
    working.checkpoints[appended.last_sequence] = {head.state};
  }
  return appended;
}

Result<void> PostgresTxn::drop_through(const std::string& task, std::uint64_t through) {
  auto found = find(task);
  if (!found) return fail(std::move(found.error()));
  Working& working = **found;
  collect();
  std::uint64_t kept = 0, dropped = working.dropped_through;
  if (!working.created) {
    auto rows =
        run("SELECT coalesce((SELECT last FROM batch WHERE task = $1 AND last <= $2 ORDER BY last DESC LIMIT 1), 0),"
            " coalesce((SELECT last - count + 1 FROM batch WHERE task = $1 AND last > greatest($2, $3)"
            " ORDER BY last LIMIT 1), 0)",
            working.kept.key, through, dropped);
    if (!rows) return fail(std::move(rows.error()));
    dropped = std::max(dropped, rows->number(0, 0));
    kept = rows->number(0, 1);
  }
  for (const StoredBatch& stored : work_.batches) {
    const EventBatch& batch = *stored.batch;
    if (batch.task != task) continue;
    if (batch.last() <= through) dropped = std::max(dropped, batch.last());
    if (batch.last() > std::max(through, dropped) && kept == 0) kept = batch.first;
  }
  TaskState& state = working.kept.head.state;
  std::uint64_t first = kept == 0 ? state.last_sequence + 1 : kept;
  if (state.first_sequence > 0) work_.events -= static_cast<std::int64_t>(first - state.first_sequence);
  working.dropped_through = dropped;
  working.changed = true;
  state.first_sequence = kept;
  std::erase_if(working.event_ids, [&](const auto& id) { return id.second <= dropped; });
  std::erase_if(working.details, [&](const auto& detail) { return detail.first <= dropped; });
  std::erase_if(working.checkpoints, [&](const auto& checkpoint) { return checkpoint.first < dropped; });
  note(ChangeKind::events_dropped, task, std::to_string(dropped));
  return {};
}

Result<void> PostgresTxn::add_checkpoint(const std::string& task, std::int64_t created_ms,
                                         const Checkpoint& checkpoint) {
  auto working = find(task);
  if (!working) return fail(std::move(working.error()));
  const TaskState& now = (*working)->kept.head.state;
  std::uint64_t sequence = checkpoint.state.last_sequence;
  if (sequence > now.last_sequence || sequence + 1 < now.first_sequence) return {};
  if ((*working)->kept.created_ms != created_ms) return {};
  (*working)->checkpoints.emplace(sequence, checkpoint);
  return {};
}

Result<void> PostgresTxn::atomically(const std::function<Result<void>(WriteTxn&)>& operation) {
  SHEPHERD_ASSERT(!in_part_, "parts of a transaction are not nested");
  if (broken_) return fail(*broken_);
  collect();  // from here on the builder has the operation's events alone
  Work before = work_;
  in_part_ = true;
  auto done = operation(*this);
  in_part_ = false;
  if (!done && !broken_) {
    builder_ = {};
    work_ = std::move(before);
    for (auto& [task, working] : saved_) {
      // The lock stays, so what was read of the task stays true; it is read again because the copy here has changes.
      if (working) {
        working_[task] = std::move(*working);
      } else {
        working_.erase(task);
      }
    }
  }
  saved_.clear();
  if (std::exchange(saved_in_database_, false) && !broken_) {
    auto ended = done ? run("RELEASE SAVEPOINT part") : run("ROLLBACK TO SAVEPOINT part");
    if (!ended) return fail(std::move(ended.error()));
  }
  if (broken_) return fail(*broken_);
  return done;
}

Result<void> PostgresTxn::savepoint() {
  if (!in_part_ || saved_in_database_) return {};
  auto done = run("SAVEPOINT part");
  if (!done) return fail(std::move(done.error()));
  saved_in_database_ = true;
  return {};
}

void PostgresTxn::note(ChangeKind kind, std::string name, std::string key) {
  collect();
  work_.changes.push_back({kind, std::move(name), std::move(key), work_.batches.size()});
}

void PostgresTxn::collect() {
  std::uint64_t unused = 0;  // the commit assigns positions
  for (StoredBatch& batch : builder_.take(unused)) work_.batches.push_back(std::move(batch));
}

}  // namespace shepherd
