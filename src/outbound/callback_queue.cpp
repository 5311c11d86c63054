#include "outbound/callback_queue.h"

namespace shepherd {

void CallbackQueue::unschedule(Entries::iterator entry) {
  if (!entry->second.due_ms) return;
  due_.erase({*entry->second.due_ms, entry->first});
  entry->second.due_ms.reset();
}

void CallbackQueue::set(const CallbackPlace& place, CallbackRecord record, std::int64_t due_ms) {
  bool pending = record.state == CallbackRecord::State::pending;
  auto entry = entries_.try_emplace(place).first;
  entry->second.record = std::move(record);
  unschedule(entry);
  if (pending) schedule(place, due_ms);
}

CallbackQueue::Entries::iterator CallbackQueue::erase(Entries::iterator entry) {
  unschedule(entry);
  return entries_.erase(entry);
}

void CallbackQueue::erase(const CallbackPlace& place) {
  if (auto entry = entries_.find(place); entry != entries_.end()) erase(entry);
}

void CallbackQueue::erase_task(const std::string& task) {
  for (auto entry = entries_.lower_bound({task, 0}); entry != entries_.end() && entry->first.task == task;) {
    entry = erase(entry);
  }
  cursors_.erase(task);
}

void CallbackQueue::set_cursor(const std::string& task, const CallbackCursor& cursor) {
  cursors_[task] = cursor;
  if (cursor.over) cursors_.erase(task);
}

CallbackCursor CallbackQueue::cursor(const std::string& task) const {
  auto found = cursors_.find(task);
  return found == cursors_.end() ? CallbackCursor() : found->second;
}

const CallbackRecord* CallbackQueue::find(const CallbackPlace& place) const {
  auto entry = entries_.find(place);
  return entry == entries_.end() ? nullptr : &entry->second.record;
}

std::vector<CallbackPlace> CallbackQueue::of_task(const std::string& task) const {
  std::vector<CallbackPlace> places;
  for (auto entry = entries_.lower_bound({task, 0}); entry != entries_.end() && entry->first.task == task; ++entry) {
    places.push_back(entry->first);
  }
  return places;
}

std::optional<CallbackPlace> CallbackQueue::take_due(std::int64_t now_ms) {
  if (due_.empty() || due_.begin()->first > now_ms) return std::nullopt;
  CallbackPlace place = due_.begin()->second;
  unschedule(entries_.find(place));
  return place;
}

void CallbackQueue::schedule(const CallbackPlace& place, std::int64_t due_ms) {
  auto entry = entries_.find(place);
  if (entry == entries_.end()) return;
  unschedule(entry);
  entry->second.due_ms = due_ms;
  due_.insert({due_ms, place});
}

void CallbackQueue::wait_for(const std::string& what, const CallbackPlace& place) {
  waiting_[what].insert(place);
}

void CallbackQueue::release(const std::string& what) {
  auto waiting = waiting_.extract(what);
  if (waiting.empty()) return;
  for (const CallbackPlace& place : waiting.mapped()) {
    const CallbackRecord* record = find(place);
    if (record != nullptr && record->state == CallbackRecord::State::pending) schedule(place, 0);
  }
}

}  // namespace shepherd
