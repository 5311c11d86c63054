#include "outbound/callbacks.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/log.h"
#include "outbound/callback_reports.h"
#include "outbound/callback_store.h"
#include "outbound/limits.h"

namespace shepherd {

Callbacks::Callbacks(CallbackParts parts, CallbackConfig config)
    : journal_(parts.journal),
      sole_process_(config.sole_process),
      attempts_(std::make_shared<CallbackAttempts>(parts, std::move(config))) {}

Callbacks::~Callbacks() {
  stop();
}

Result<void> Callbacks::start() {
  auto records = journal_.store().records(kCallbackRecords);
  if (!records) return fail(records.error());
  auto cursors = journal_.store().records(kCallbackCursors);
  if (!cursors) return fail(cursors.error());
  for (const auto& [task, text] : *cursors) attempts_->set_cursor(task, decode_callback_cursor(text));
  for (const auto& [key, text] : *records) attempts_->restore(callback_place(key), decode_callback_record(text));
  attempts_->begin_due();
  return {};
}

void Callbacks::stop() {
  attempts_->stop();
}

void Callbacks::tick() {
  attempts_->tick();
}

std::optional<CallbackRecord> Callbacks::find(const std::string& task) const {
  return attempts_->find({task});
}

void Callbacks::take(const News& news, std::move_only_function<void(bool)> done) {
  if (!sole_process_) learn(news.changes);
  std::vector<NewCallbacks> found;
  for (const RowPtr& row : news.rows) {
    if (row->spec.callback_url.empty()) continue;
    bool fresh = std::ranges::find(news.deleted, row->spec.id) != news.deleted.end();
    if (!look(*row, fresh, found)) return done(false);
  }
  Drops drops;
  for (const std::string& task : news.deleted) {
    auto known = attempts_->of_task(task);
    std::set<CallbackPlace>& places = drops[task];
    places.insert(known.begin(), known.end());
    places.insert({task});  // also what only another process knows
    MutexLock lock(mutex_);
    if (auto perhaps = unsure_.find(task); perhaps != unsure_.end()) {
      places.insert(perhaps->second.begin(), perhaps->second.end());
    }
  }
  if (found.empty() && drops.empty()) return done(true);
  journal_.write(
      [found, drops](WriteTxn& txn) -> Result<void> {
        for (const auto& [task, places] : drops) {
          if (auto dropped = drop_callbacks(txn, task, places); !dropped) return dropped;
        }
        for (const NewCallbacks& each : found) {
          if (auto added = add_callbacks(txn, each); !added) return added;
        }
        return {};
      },
      [this, drops, found, done = std::move(done)](Result<void> written) mutable {
        if (written) {
          take_in(drops, found);
        } else {
          remember_unsure(found);
        }
        done(written.has_value());
      });
}

bool Callbacks::look(const TaskRow& task, bool fresh, std::vector<NewCallbacks>& found) {
  const std::string& id = task.spec.id;
  auto is_this = [&](std::int64_t created_ms) { return created_ms == 0 || created_ms == task.created_ms; };
  CallbackCursor cursor;
  std::size_t pending = 0;
  if (!fresh) {
    auto end = attempts_->find({id});
    if (end && is_this(end->created_ms)) return true;  // nothing is reported after the end
    pending = attempts_->of_task(id).size();
    CallbackCursor known = attempts_->cursor(id);
    if (is_this(known.created_ms)) cursor = known;
  }
  cursor.created_ms = task.created_ms;
  NewCallbacks news{id, task.created_ms, {}, {}};
  if (!task.spec.callback_events.empty()) {
    CallbackCursor before = cursor;
    if (!find_reports(journal_.store(), task, cursor, news.places)) return false;
    cursor.over = is_terminal(task.state.state);
    if (cursor != before) news.cursor = cursor;
    std::size_t room = kMaxTaskCallbacks - std::min(pending, kMaxTaskCallbacks);
    if (news.places.size() > room) {
      log_warn("{} reports of task {} are not sent: its receiver has not taken the earlier ones",
               news.places.size() - room, id);
      news.places.resize(room);
    }
  }
  if (is_terminal(task.state.state)) news.places.push_back({id});
  if (!news.places.empty() || news.cursor) found.push_back(std::move(news));
  return true;
}

void Callbacks::take_in(const Drops& drops, const std::vector<NewCallbacks>& found) {
  {
    MutexLock lock(mutex_);
    for (const auto& [task, places] : drops) unsure_.erase(task);
    for (const NewCallbacks& each : found) unsure_.erase(each.task);
  }
  for (const auto& [task, places] : drops) attempts_->forget(task);
  for (const NewCallbacks& each : found) {
    for (const CallbackPlace& place : each.places) attempts_->add(place, each.created_ms);
    if (each.cursor) attempts_->set_cursor(each.task, *each.cursor);
  }
  attempts_->begin_due();
}

// The commit may have been made. If the task is deleted before the next try, that one does not find these any more.
void Callbacks::remember_unsure(const std::vector<NewCallbacks>& found) {
  MutexLock lock(mutex_);
  for (const NewCallbacks& each : found) unsure_[each.task].insert(each.places.begin(), each.places.end());
}

// What it cannot read, the next claim finds out.
void Callbacks::learn(const std::vector<Change>& changes) {
  std::set<std::string> keys;
  for (const Change& change : changes) {
    if (change.kind == ChangeKind::record_changed && change.name == kCallbackRecords) keys.insert(change.key);
  }
  for (const std::string& key : keys) {
    auto text = journal_.store().record(kCallbackRecords, key);
    if (!text) continue;
    auto stored = text->empty() ? std::nullopt : std::optional(decode_callback_record(*text));
    attempts_->learn(callback_place(key), stored);
  }
}

}  // namespace shepherd
