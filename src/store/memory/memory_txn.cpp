#include "store/memory/memory_txn.h"

#include <algorithm>
#include <set>

#include "model/wire_json.h"
#include "store/limits.h"
#include "store/task_match.h"
#include "store/unknown_task.h"

namespace shepherd {

Result<std::optional<std::string>> MemoryTxn::Known::body_of_number(const std::string& producer, std::uint64_t number) {
  if (auto body = txn_.builder_.body_of_number(task_, producer, number)) return std::string(*body);
  for (auto batch = txn_.work_.batches.rbegin(); batch != txn_.work_.batches.rend(); ++batch) {
    if (batch->batch->task != task_ || batch->batch->last() <= working_.dropped_through) continue;
    if (auto body = batch->body_of_number(producer, number)) return std::string(*body);
  }
  if (working_.replaces) return std::nullopt;
  MutexLock lock(txn_.store_.mutex_);
  auto log = txn_.store_.logs_.find(task_);
  if (log == txn_.store_.logs_.end()) return std::nullopt;
  for (auto batch = log->second.batches.rbegin(); batch != log->second.batches.rend(); ++batch) {
    if (batch->batch->last() <= working_.dropped_through) break;
    if (auto body = batch->body_of_number(producer, number)) return std::string(*body);
  }
  return std::nullopt;
}

Result<bool> MemoryTxn::Known::has_event_id(std::string_view event_id) {
  if (working_.log.event_ids.contains(event_id)) return true;
  if (working_.replaces) return false;
  MutexLock lock(txn_.store_.mutex_);
  auto log = txn_.store_.logs_.find(task_);
  if (log == txn_.store_.logs_.end()) return false;
  auto known = log->second.event_ids.find(event_id);
  return known != log->second.event_ids.end() && known->second > working_.dropped_through;
}

MemoryTxn::Working* MemoryTxn::find(const std::string& task) {
  auto known = work_.working.find(task);
  if (known != work_.working.end()) return known->second.deleted ? nullptr : &known->second;
  MutexLock lock(store_.mutex_);
  auto log = store_.logs_.find(task);
  if (log == store_.logs_.end()) return nullptr;
  Working& working = work_.working[task];
  working.log.spec = log->second.spec;
  working.log.head = log->second.head;
  working.log.created_ms = log->second.created_ms;
  working.log.fingerprint = log->second.fingerprint;
  working.log.idempotency_key = log->second.idempotency_key;
  return &working;
}

std::optional<std::string> MemoryTxn::task_with_key(const std::string& key) {
  if (auto added = work_.new_keys.find(key); added != work_.new_keys.end()) return added->second;
  MutexLock lock(store_.mutex_);
  auto known = store_.ids_by_key_.find(key);
  if (known == store_.ids_by_key_.end()) return std::nullopt;
  return known->second;
}

Result<Created> MemoryTxn::create_task(const TaskSpec& spec, std::int64_t created_ms,
                                       const std::string& idempotency_key) {
  std::string fingerprint = spec_fingerprint(spec);
  if (!idempotency_key.empty()) {
    auto id = task_with_key(idempotency_key);
    if (Working* known = id ? find(*id) : nullptr; known && known->log.idempotency_key == idempotency_key) {
      if (known->log.fingerprint == fingerprint) return Created{known->log.task(), true};
      return fail(ErrorCode::conflict, "idempotency_key_reused",
                  "This Idempotency-Key made another task. Use a new key for a new request.");
    }
  }
  if (Working* known = find(spec.id)) {
    if (known->log.fingerprint == fingerprint) return Created{known->log.task(), true};
    return fail(ErrorCode::conflict, "task_exists", "Task " + spec.id + " exists with another content.");
  }
  Working fresh;
  fresh.replaces = true;
  fresh.log.spec = spec;
  fresh.log.created_ms = created_ms;
  fresh.log.fingerprint = std::move(fingerprint);
  fresh.log.idempotency_key = idempotency_key;
  if (!idempotency_key.empty()) work_.new_keys[idempotency_key] = spec.id;
  Created created{fresh.log.task(), false};
  work_.working[spec.id] = std::move(fresh);
  note(ChangeKind::task_created, spec.id);
  return created;
}

Result<TaskRow> MemoryTxn::row(const std::string& id) {
  Working* working = find(id);
  if (!working) return unknown_task(id);
  return working->log.row();
}

Result<Task> MemoryTxn::task(const std::string& id) {
  Working* working = find(id);
  if (!working) return unknown_task(id);
  return working->log.task();
}

Result<Task> MemoryTxn::update_task(const TaskSpec& spec) {
  Working* working = find(spec.id);
  if (!working) return unknown_task(spec.id);
  working->log.spec.title = spec.title;
  working->log.spec.labels = spec.labels;
  working->spec_changed = true;
  note(ChangeKind::task_changed, spec.id);
  return working->log.task();
}

Result<void> MemoryTxn::delete_task(const std::string& task) {
  Working* working = find(task);
  if (!working) return unknown_task(task);
  collect();
  for (std::size_t i = work_.batches.size(); i-- > 0;) {
    if (work_.batches[i].batch->task != task) continue;
    work_.batches.erase(work_.batches.begin() + static_cast<std::ptrdiff_t>(i));
    for (NewChange& change : work_.changes) change.batches -= change.batches > i ? 1 : 0;
  }
  *working = {};
  working->deleted = true;
  for (const auto& [key, lease] : all_leases()) {
    if (key.kind != LeaseKind::runner && key.name == task) work_.leases[key] = std::nullopt;
  }
  note(ChangeKind::task_deleted, task);
  return {};
}

Result<Appended> MemoryTxn::append(const AppendRequest& request) {
  Working* working = find(request.task);
  if (!working) return unknown_task(request.task);
  Known known(*this, *working, request.task);
  auto plan = plan_append(working->log.head, request, known);
  if (!plan) return fail(std::move(plan.error()));
  const std::uint64_t before = working->log.head.state.last_sequence;
  std::uint64_t sequence = before;
  Appended appended = builder_.add(working->log.head, request, *plan);
  for (const auto& fresh : plan->fresh) {
    const Draft& draft = request.drafts.drafts[fresh.draft];
    ++sequence;
    if (!draft.event_id.empty() && !fresh.keyed) working->log.event_ids[draft.event_id] = sequence;
    if (!draft.detail.empty()) working->log.details[sequence] = draft.detail;
  }
  if (appended.last_sequence / kCheckpointEvents != before / kCheckpointEvents) {
    working->log.checkpoints[appended.last_sequence] = {working->log.head.state};
  }
  return appended;
}

Result<void> MemoryTxn::drop_through(const std::string& task, std::uint64_t through) {
  Working* working = find(task);
  if (!working) return unknown_task(task);
  collect();
  std::uint64_t kept = 0, dropped = working->dropped_through;
  auto look = [&](const EventBatch& batch) {
    if (batch.last() <= through) dropped = std::max(dropped, batch.last());
    if (batch.last() > std::max(through, dropped) && kept == 0) kept = batch.first;
  };
  if (!working->replaces) {
    MutexLock lock(store_.mutex_);
    for (const StoredBatch& stored : store_.logs_.at(task).batches) look(*stored.batch);
  }
  for (const StoredBatch& stored : work_.batches) {
    if (stored.batch->task == task) look(*stored.batch);
  }
  working->dropped_through = dropped;
  working->log.head.state.first_sequence = kept;
  std::erase_if(working->log.event_ids, [&](const auto& id) { return id.second <= dropped; });
  std::erase_if(working->log.details, [&](const auto& detail) { return detail.first <= dropped; });
  std::erase_if(working->log.checkpoints, [&](const auto& checkpoint) { return checkpoint.first < dropped; });
  note(ChangeKind::events_dropped, task, std::to_string(dropped));
  return {};
}

Result<void> MemoryTxn::add_checkpoint(const std::string& task, std::int64_t created_ms, const Checkpoint& checkpoint) {
  Working* working = find(task);
  if (!working) return unknown_task(task);
  const TaskState& now = working->log.head.state;
  std::uint64_t sequence = checkpoint.state.last_sequence;
  if (sequence > now.last_sequence || sequence + 1 < now.first_sequence) return {};
  if (working->log.created_ms != created_ms) return {};
  working->log.checkpoints.emplace(sequence, checkpoint);
  return {};
}

Result<void> MemoryTxn::put_record(const std::string& kind, const std::string& key, const std::string& value) {
  work_.records[{kind, key}] = value;
  note(ChangeKind::record_changed, kind, key);
  return {};
}

Result<std::string> MemoryTxn::record(const std::string& kind, const std::string& key) {
  auto mine = work_.records.find({kind, key});
  if (mine != work_.records.end()) return mine->second;
  return store_.record(kind, key);
}

Result<void> MemoryTxn::keep_cursor(const std::string& name, const std::string& value) {
  work_.records[{kCursors, name}] = value;
  return {};
}

std::map<LeaseKey, Lease> MemoryTxn::all_leases() {
  std::map<LeaseKey, Lease> all;
  {
    MutexLock lock(store_.mutex_);
    all = store_.leases_;
  }
  for (const auto& [key, lease] : work_.leases) {
    if (lease) {
      all[key] = *lease;
    } else {
      all.erase(key);
    }
  }
  return all;
}

Result<std::vector<Lease>> MemoryTxn::leases(LeaseKind kind, const std::string& name) {
  std::vector<Lease> found;
  for (auto& [key, lease] : all_leases()) {
    if (key.kind == kind && key.name == name) found.push_back(std::move(lease));
  }
  return found;
}

Result<std::vector<Lease>> MemoryTxn::leases_over(std::int64_t now_ms, std::size_t limit) {
  std::vector<Lease> over;
  for (auto& [key, lease] : all_leases()) {
    if (lease.until_ms <= now_ms && over.size() < limit) over.push_back(std::move(lease));
  }
  return over;
}

Result<void> MemoryTxn::put_lease(const Lease& lease) {
  work_.leases[lease.key] = lease;
  note(ChangeKind::lease_changed, std::string(shepherd::name(lease.key.kind)), lease.key.name);
  return {};
}

Result<void> MemoryTxn::end_lease(const LeaseKey& key) {
  if (!all_leases().contains(key)) return {};
  work_.leases[key] = std::nullopt;
  note(ChangeKind::lease_changed, std::string(shepherd::name(key.kind)), key.name);
  return {};
}

Result<bool> MemoryTxn::renew_lease(const LeaseRenewal& renewal) {
  auto all = all_leases();
  auto found = all.find(renewal.key);
  if (found == all.end() || found->second.epoch != renewal.epoch) return false;
  Lease& lease = found->second;
  lease.until_ms = std::max(lease.until_ms, renewal.until_ms);
  lease.heard = lease.heard || renewal.heard;
  work_.leases[renewal.key] = lease;
  return true;
}

std::uint64_t MemoryTxn::position() const {
  MutexLock lock(store_.mutex_);
  return store_.position_;
}

Result<void> MemoryTxn::atomically(const std::function<Result<void>(WriteTxn&)>& operation) {
  collect();
  Work before = work_;
  auto done = operation(*this);
  if (done) return done;
  builder_ = {};
  work_ = std::move(before);
  return done;
}

void MemoryTxn::note(ChangeKind kind, std::string name, std::string key) {
  collect();
  work_.changes.push_back({kind, std::move(name), std::move(key), work_.batches.size()});
}

void MemoryTxn::collect() {
  std::uint64_t unused = 0;  // the commit assigns positions
  for (StoredBatch& batch : builder_.take(unused)) work_.batches.push_back(std::move(batch));
}

void MemoryTxn::erase(const std::string& id) {
  auto log = store_.logs_.find(id);
  if (log == store_.logs_.end()) return;
  for (const StoredBatch& stored : log->second.batches) store_.by_position_.erase(stored.batch->last_position());
  auto key = store_.ids_by_key_.find(log->second.idempotency_key);
  if (key != store_.ids_by_key_.end() && key->second == id) store_.ids_by_key_.erase(key);
  store_.logs_.erase(log);
}

void MemoryTxn::apply(const std::string& id, Working& working) {
  if (working.deleted || working.replaces) erase(id);
  if (working.deleted) return;
  MemoryStore::Log& log = store_.logs_[id];
  if (working.replaces || working.spec_changed) log.spec = std::move(working.log.spec);
  log.head = std::move(working.log.head);
  log.created_ms = working.log.created_ms;
  log.fingerprint = std::move(working.log.fingerprint);
  log.idempotency_key = std::move(working.log.idempotency_key);
  if (!log.idempotency_key.empty()) store_.ids_by_key_[log.idempotency_key] = id;
  log.event_ids.merge(working.log.event_ids);
  log.details.merge(working.log.details);
  log.checkpoints.merge(working.log.checkpoints);
}

Commit MemoryTxn::commit() {
  collect();
  MutexLock lock(store_.mutex_);
  for (auto& [id, working] : work_.working) apply(id, working);
  Commit commit = finished();
  for (auto& [id, working] : work_.working) {
    if (working.dropped_through == 0) continue;
    MemoryStore::Log& log = store_.logs_.at(id);
    std::uint64_t through = working.dropped_through;
    while (!log.batches.empty() && log.batches.front().batch->last() <= through) {
      store_.by_position_.erase(log.batches.front().batch->last_position());
      log.batches.pop_front();
    }
    log.details.erase(log.details.begin(), log.details.upper_bound(through));
    log.checkpoints.erase(log.checkpoints.begin(), log.checkpoints.lower_bound(through));
    std::erase_if(log.event_ids, [&](const auto& known) { return known.second <= through; });
  }
  for (auto& [key, lease] : work_.leases) {
    if (lease) {
      store_.leases_[key] = *std::move(lease);
    } else {
      store_.leases_.erase(key);
    }
  }
  for (auto& [name, value] : work_.records) {
    auto& kind = store_.records_[name.first];
    if (value.empty()) {
      kind.erase(name.second);
    } else {
      kind[name.second] = std::move(value);
    }
  }
  return commit;
}

// Numbers the next changes of the transaction, up to those that come after `batches` of its batches.
void MemoryTxn::number_changes(Commit& commit, std::size_t batches, std::set<std::string>& touched) {
  while (commit.changes.size() < work_.changes.size()) {
    NewChange& next = work_.changes[commit.changes.size()];
    if (next.batches > batches) return;
    Change change{++store_.change_, store_.position_, next.kind, std::move(next.name), std::move(next.key)};
    if (is_of_task(change.kind)) touched.insert(change.name);
    store_.changes_.push_back(change);
    if (store_.changes_.size() > kKeptChanges) store_.changes_.pop_front();
    commit.changes.push_back(std::move(change));
  }
}

// Numbers batches and changes, moves them to the store and describes them.
Commit MemoryTxn::finished() {
  Commit commit;
  commit.before = {store_.position_, store_.change_};
  std::set<std::string> touched;
  for (std::size_t i = 0; i < work_.batches.size(); ++i) {
    number_changes(commit, i, touched);
    StoredBatch& stored = work_.batches[i];
    stored.batch->position = store_.position_ + 1;
    store_.position_ = stored.batch->last_position();
    touched.insert(stored.batch->task);
    commit.batches.push_back(stored.batch);
    store_.by_position_[stored.batch->last_position()] = stored;
    store_.logs_.at(stored.batch->task).batches.push_back(std::move(stored));
  }
  number_changes(commit, work_.batches.size(), touched);
  for (const std::string& id : touched) {
    if (auto log = store_.logs_.find(id); log != store_.logs_.end()) {
      commit.rows.push_back(std::make_shared<TaskRow>(log->second.row()));
    }
  }
  commit.through = {store_.position_, store_.change_};
  return commit;
}

}  // namespace shepherd
