#include "store/sqlite/sqlite_txn.h"

#include <algorithm>

#include "model/wire_json.h"
#include "store/limits.h"
#include "store/sqlite/change_rows.h"
#include "store/sqlite/checkpoints.h"
#include "store/sqlite/known_rows.h"
#include "store/sqlite/lease_rows.h"
#include "store/sqlite/leftovers.h"
#include "store/sqlite/task_row.h"
#include "store/task_match.h"
#include "store/unknown_task.h"

namespace shepherd {

std::unexpected<Error> SqliteTxn::broken(Error error) {
  if (!broken_) broken_ = error;
  return fail(std::move(error));
}

std::unexpected<Error> SqliteTxn::unreadable(Error error) {
  if (error.reason == "corrupt" && database_.in_transaction()) return fail(std::move(error));
  return broken(std::move(error));
}

Result<WriterHead*> SqliteTxn::find(const std::string& task) {
  if (broken_) return fail(*broken_);
  auto head = heads_.find(task);
  if (!head) return unreadable(std::move(head.error()));
  if (!*head) return unknown_task(task);
  return *head;
}

Result<TaskRow> SqliteTxn::row(const std::string& id) {
  auto head = find(id);
  if (!head) return fail(std::move(head.error()));
  return (*head)->row();
}

Result<Task> SqliteTxn::task(const std::string& id) {
  auto head = find(id);
  if (!head) return fail(std::move(head.error()));
  auto spec = read_task_spec(database_, id);
  if (!spec) return broken(std::move(spec.error()));
  if (!*spec) return unknown_task(id);
  return Task{std::move(**spec), (*head)->head.state, (*head)->created_ms};
}

Result<Created> SqliteTxn::known_task(const std::string& id, std::string_view request, const char* reason,
                                      const char* message) {
  {
    auto row = database_.use("SELECT request FROM task WHERE id = ?", id);
    auto found = row.step();
    if (!found) return broken(std::move(found.error()));
    if (!*found || row.bytes(0) != request) return fail(ErrorCode::conflict, reason, message);
  }
  auto known = task(id);
  if (!known) return fail(std::move(known.error()));
  return Created{std::move(*known), true};
}

Result<Created> SqliteTxn::create_task(const TaskSpec& spec, std::int64_t created_ms,
                                       const std::string& idempotency_key) {
  if (broken_) return fail(*broken_);
  std::string request = content_hash(spec_fingerprint(spec));
  if (!idempotency_key.empty()) {
    auto row = database_.use("SELECT id FROM task WHERE idempotency_key = ?", idempotency_key);
    auto found = row.step();
    if (!found) return broken(std::move(found.error()));
    if (*found) {
      return known_task(row.text(0), request, "idempotency_key_reused",
                        "This Idempotency-Key made another task. Use a new key for a new request.");
    }
  }
  auto head = heads_.find(spec.id);
  if (!head) return broken(std::move(head.error()));
  if (*head) return known_task(spec.id, request, "task_exists", "A task with this id exists with another content.");

  Task task{spec, {}, created_ms};
  auto key = insert_task_row(database_, task, request, idempotency_key);
  if (!key) return broken(std::move(key.error()));
  heads_.tell(heads_.add(task, *key));
  if (auto noted = note(ChangeKind::task_created, spec.id); !noted) return fail(std::move(noted.error()));
  return Created{std::move(task), false};
}

Result<Task> SqliteTxn::update_task(const TaskSpec& spec) {
  auto head = find(spec.id);
  if (!head) return fail(std::move(head.error()));
  auto known = task(spec.id);
  if (!known) return known;
  known->spec.title = spec.title;
  known->spec.labels = spec.labels;
  auto done = update_task_row(database_, (*head)->key, known->spec);
  if (!done) return broken(std::move(done.error()));
  (*head)->info = info_of(known->spec);
  heads_.tell(**head);
  if (auto noted = note(ChangeKind::task_changed, spec.id); !noted) return fail(std::move(noted.error()));
  return known;
}

Result<void> SqliteTxn::delete_task(const std::string& task) {
  auto head = find(task);
  if (!head) return fail(std::move(head.error()));
  if (auto done = store_batches(); !done) return done;
  // Leftovers are found by their places alone.
  if (auto done = heads_.place_batches(**head); !done) return broken(std::move(done.error()));
  const TaskState& state = (*head)->head.state;
  if (state.first_sequence > 0) {
    counters_.events -= state.last_sequence - state.first_sequence + 1;
    erased_events_ = true;
  }
  for (const char* sql : {"DELETE FROM task_spec WHERE task = ?", "DELETE FROM task_info WHERE task = ?",
                          "DELETE FROM task WHERE key = ?", "INSERT INTO leftover(task) VALUES(?)"}) {
    if (auto done = database_.use(sql, (*head)->key).run(); !done) return broken(std::move(done.error()));
  }
  if (auto done = erase_leases_on(database_, task); !done) return broken(std::move(done.error()));
  std::erase_if(commit_.batches, [&](const BatchPtr& batch) { return batch->task == task; });
  deleted_.push_back(task);
  heads_.erase(task);
  return note(ChangeKind::task_deleted, task);
}

Result<bool> SqliteTxn::erase_leftovers(std::size_t rows) {
  if (broken_) return fail(*broken_);
  auto erased = shepherd::erase_leftovers(database_, {rows, kLeftoverBytes});
  if (!erased) return broken(std::move(erased.error()));
  counters_.detail_bytes -= erased->detail_bytes;
  if (erased->detail_bytes > 0) changed_blobs_ = true;
  if (erased->any) freed_pages_ = true;
  return erased->more;
}

Result<Appended> SqliteTxn::append(const AppendRequest& request) {
  auto found = find(request.task);
  if (!found) return fail(std::move(found.error()));
  WriterHead& head = **found;
  KnownRows known(database_, builder_, head);
  auto plan = plan_append(head.head, request, known);
  if (known.failed()) return unreadable(std::move(plan.error()));
  if (!plan) return fail(std::move(plan.error()));

  const std::uint64_t before = head.head.state.last_sequence;
  std::uint64_t sequence = before;
  for (const auto& fresh : plan->fresh) {
    const Draft& draft = request.drafts.drafts[fresh.draft];
    ++sequence;
    if (!draft.event_id.empty() && !fresh.keyed) {
      auto done = database_
                      .use("INSERT OR REPLACE INTO event_key(task, event_id, sequence) VALUES(?, ?, ?)", head.key,
                           draft.event_id, sequence)
                      .run();
      if (!done) return broken(std::move(done.error()));
    }
    if (!draft.detail.empty()) {
      auto blob = store_blob(draft.detail);
      if (!blob) return broken(std::move(blob.error()));
      pending_details_[request.task].push_back({sequence, *blob});
    }
  }
  Appended appended = builder_.add(head.head, request, *plan);
  if (appended.added > 0) head.dirty = true;
  counters_.events += appended.added;
  counters_.unprojected += appended.added;
  if (appended.last_sequence / kCheckpointEvents != before / kCheckpointEvents) {
    auto done = insert_checkpoint(database_, head.key, {head.head.state});
    if (!done) return broken(std::move(done.error()));
  }
  return appended;
}

Result<void> SqliteTxn::drop_through(const std::string& task, std::uint64_t through) {
  auto head = find(task);
  if (!head) return fail(std::move(head.error()));
  if (auto done = store_batches(); !done) return done;
  through = std::min(through, (*head)->head.state.last_sequence);
  if (auto done = erase_batches(**head, through); !done) return done;
  std::uint64_t first = 0;
  {
    auto walk = BatchWalk::up(database_, (*head)->key, 1, (*head)->unplaced);
    auto kept = walk.next();
    if (!kept) return broken(std::move(kept.error()));
    if (*kept) first = (*kept)->number(kBatchLast) - (*kept)->number(kBatchCount) + 1;
  }
  std::uint64_t gone = first == 0 ? (*head)->head.state.last_sequence : first - 1;
  (*head)->head.state.first_sequence = first;
  (*head)->dirty = true;
  auto done = database_.use("DELETE FROM event_key WHERE task = ? AND sequence <= ?", (*head)->key, gone).run();
  if (done) done = erase_checkpoints(database_, (*head)->key, gone);
  if (!done) return broken(std::move(done.error()));
  heads_.tell(**head);
  return note(ChangeKind::events_dropped, task, std::to_string(gone));
}

Result<std::string> SqliteTxn::record(const std::string& kind, const std::string& key) {
  if (broken_) return fail(*broken_);
  auto value = read_record(database_, kind, key);
  if (!value) return broken(std::move(value.error()));
  return value;
}

Result<void> SqliteTxn::add_checkpoint(const std::string& task, std::int64_t created_ms, const Checkpoint& checkpoint) {
  auto head = find(task);
  if (!head) return fail(std::move(head.error()));
  const TaskState& now = (*head)->head.state;
  std::uint64_t sequence = checkpoint.state.last_sequence;
  if (sequence > now.last_sequence || sequence + 1 < now.first_sequence) return {};
  {
    auto row = database_.use("SELECT created FROM task WHERE key = ?", (*head)->key);
    auto found = row.step();
    if (!found) return broken(std::move(found.error()));
    if (!*found || row.integer(0) != created_ms) return {};
  }
  if (auto done = insert_checkpoint(database_, (*head)->key, checkpoint); !done) return broken(std::move(done.error()));
  return {};
}

Result<void> SqliteTxn::put_record(const std::string& kind, const std::string& key, const std::string& value) {
  if (auto done = store_record(kind, key, value); !done) return done;
  return note(ChangeKind::record_changed, kind, key);
}

Result<void> SqliteTxn::keep_cursor(const std::string& name, const std::string& value) {
  return store_record(kCursors, name, value);
}

Result<std::vector<Lease>> SqliteTxn::leases(LeaseKind kind, const std::string& name) {
  if (broken_) return fail(*broken_);
  return or_broken(read_leases(database_, kind, name));
}

Result<std::vector<Lease>> SqliteTxn::leases_over(std::int64_t now_ms, std::size_t limit) {
  if (broken_) return fail(*broken_);
  return or_broken(read_leases_over(database_, now_ms, limit));
}

Result<void> SqliteTxn::put_lease(const Lease& lease) {
  if (broken_) return fail(*broken_);
  if (auto done = store_lease(database_, lease); !done) return broken(std::move(done.error()));
  return note(ChangeKind::lease_changed, std::string(shepherd::name(lease.key.kind)), lease.key.name);
}

Result<void> SqliteTxn::end_lease(const LeaseKey& key) {
  if (broken_) return fail(*broken_);
  auto ended = erase_lease(database_, key);
  if (!ended) return broken(std::move(ended.error()));
  if (!*ended) return {};
  return note(ChangeKind::lease_changed, std::string(shepherd::name(key.kind)), key.name);
}

Result<bool> SqliteTxn::renew_lease(const LeaseRenewal& renewal) {
  if (broken_) return fail(*broken_);
  return or_broken(shepherd::renew_lease(database_, renewal));
}

Result<void> SqliteTxn::store_record(const std::string& kind, const std::string& key, const std::string& value) {
  if (broken_) return fail(*broken_);
  auto done =
      value.empty()
          ? database_.use("DELETE FROM record WHERE kind = ? AND key = ?", kind, key).run()
          : database_.use("INSERT OR REPLACE INTO record(kind, key, value) VALUES(?, ?, ?)", kind, key, Blob{value})
                .run();
  if (!done) return broken(std::move(done.error()));
  return {};
}

Result<void> SqliteTxn::finish(Flush flush, std::size_t unplaced) {
  if (broken_) return fail(*broken_);
  if (auto done = store_batches(); !done) return done;
  for (const WriterHead* head : heads_.changed()) {
    if (!heads_.told(*head)) continue;
    commit_.rows.push_back(std::make_shared<TaskRow>(head->info, head->head.state, head->created_ms));
  }
  commit_.through = {counters_.position, counters_.change};
  // Erasing changes `events` on disk, which is only correct if all projections are written too.
  if (erased_events_ || flush != Flush::no) {
    if (auto done = heads_.write_dirty(); !done) return broken(std::move(done.error()));
    counters_.unprojected = 0;
    for (auto [meta, value] : {std::pair{"projected_through", counters_.position},
                               {"position", counters_.position},
                               {"events", counters_.events}}) {
      if (auto done = set_meta(meta, value); !done) return done;
    }
  } else {
    for (WriterHead* head : heads_.changed()) {
      if (!head->dirty || !head->must_write()) continue;
      if (auto done = heads_.write(*head); !done) return broken(std::move(done.error()));
    }
  }
  auto placed = flush == Flush::everything ? heads_.place_all(counters_.position)
                                           : heads_.place_oldest(unplaced, position_before_);
  if (!placed) return broken(std::move(placed.error()));
  if (changed_blobs_) return set_meta("detail_bytes", counters_.detail_bytes);
  return {};
}

}  // namespace shepherd
