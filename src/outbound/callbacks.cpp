#include "outbound/callbacks.h"

#include <algorithm>
#include <chrono>
#include <future>

#include "base/log.h"
#include "outbound/callback_message.h"
#include "outbound/callback_target.h"
#include "outbound/limits.h"

namespace shepherd {
namespace {

constexpr const char* kRecordKind = "callback";
constexpr const char* kCursorKind = "callback_cursor";
constexpr std::int64_t kOrderPauseMs = 100;   // before a callback that waits for an earlier one is checked again
constexpr std::int64_t kLookAgainMs = 1'000;  // after the store could not be written

bool is_good(int status) {
  return status >= 200 && status < 300;
}

std::string host_of(const net::Url& url) {
  return url.host + ":" + url.port;
}

// Returns one event of a log, or an empty text if it is no longer kept.
Result<std::string> event_at(const EventStore& store, const std::string& task, std::uint64_t sequence) {
  if (sequence == 0) return std::string();
  auto page = store.read(task, sequence - 1, {1, 1});
  if (!page) return fail(page.error());
  if (page->batches.empty() || page->batches.front()->first > sequence) return std::string();
  const EventBatch& batch = *page->batches.front();
  return std::string(batch.event(static_cast<std::size_t>(sequence - batch.first)));
}

}  // namespace

Callbacks::Callbacks(CallbackParts parts, CallbackConfig config)
    : parts_(std::move(parts)),
      config_(std::move(config)),
      key_(callback_key(config_.secret)),
      sent_(parts_.metrics.counter("shepherd_callbacks_sent_total", "Callbacks that were taken")),
      retried_(parts_.metrics.counter("shepherd_callbacks_retried_total", "Attempts that failed and are repeated")),
      failed_(parts_.metrics.counter("shepherd_callbacks_failed_total", "Callbacks that were given up")) {}

Callbacks::~Callbacks() {
  stop();
}

Result<void> Callbacks::start() {
  auto records = parts_.journal.store().records(kRecordKind);
  if (!records) return fail(records.error());
  auto cursors = parts_.journal.store().records(kCursorKind);
  if (!cursors) return fail(cursors.error());
  {
    MutexLock lock(mutex_);
    for (const auto& [task, text] : *cursors) cursors_[task] = decode_callback_cursor(text);
    for (const auto& [key, text] : *records) {
      CallbackRecord record = decode_callback_record(text);
      // If this is the only process, the claimant is gone; otherwise it may still be sending.
      if (config_.sole_process) record.claimed_ms = 0;
      CallbackPlace place = callback_place(key);
      records_[place] = record;
      if (record.state != CallbackRecord::State::pending) continue;
      schedule(place, record.claimed_ms != 0 ? record.claimed_ms + kCallbackTakeover.count() : record.next_ms);
    }
  }
  for (std::int64_t i = 0; i < config_.threads; ++i) threads_.emplace_back([this] { run(); });
  return {};
}

void Callbacks::stop() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  stop_.request_stop();
  ready_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void Callbacks::changed(const std::vector<TaskRow>& tasks, std::move_only_function<void(bool)> done) {
  Reports news;
  for (const TaskRow& task : tasks) {
    if (!task.spec.callback_url.empty() && !look(task, news)) return done(false);
  }
  if (news.places.empty() && news.cursors.empty()) return done(true);
  parts_.journal.write(
      [news](WriteTxn& txn) -> Result<void> {
        for (const CallbackPlace& place : news.places) {
          auto put = txn.put_record(kRecordKind, record_key(place), encode_callback_record({}));
          if (!put) return put;
        }
        for (const auto& [task, cursor] : news.cursors) {
          std::string text = cursor.over ? std::string() : encode_callback_cursor(cursor);
          if (auto put = txn.put_record(kCursorKind, task, text); !put) return put;
        }
        return {};
      },
      [this, news, done = std::move(done)](Result<void> written) mutable {
        if (written) take_in(news);
        ready_.notify_all();
        done(written.has_value());
      });
}

bool Callbacks::look(const TaskRow& task, Reports& reports) {
  const std::string& id = task.spec.id;
  CallbackCursor cursor;
  std::size_t pending = 0;
  {
    MutexLock lock(mutex_);
    if (records_.contains({id})) return true;  // nothing is reported after the end
    if (auto known = cursors_.find(id); known != cursors_.end()) cursor = known->second;
    auto first = records_.lower_bound({id, 0});
    pending = static_cast<std::size_t>(std::distance(first, records_.lower_bound({id})));
  }
  if (!task.spec.callback_events.empty()) {
    CallbackCursor before = cursor;
    std::vector<CallbackPlace> found;
    if (!look_for_reports(task, cursor, found)) return false;
    cursor.over = is_terminal(task.state.state);
    if (cursor != before) reports.cursors[id] = cursor;
    std::size_t room = kMaxTaskCallbacks - std::min(pending, kMaxTaskCallbacks);
    if (found.size() > room) {
      log_warn("{} reports of task {} are not told: its receiver has not taken those before", found.size() - room, id);
      found.resize(room);
    }
    reports.places.insert(reports.places.end(), found.begin(), found.end());
  }
  if (is_terminal(task.state.state)) reports.places.push_back({id});
  return true;
}

bool Callbacks::look_for_reports(const TaskRow& task, CallbackCursor& cursor, std::vector<CallbackPlace>& found) const {
  const std::string& id = task.spec.id;
  const auto& asked = task.spec.callback_events;
  std::uint64_t last = task.state.end_sequence != 0 ? task.state.end_sequence : task.state.last_sequence;
  while (cursor.through < last) {
    auto page = parts_.journal.store().read(id, cursor.through, {});
    if (!page) return page.error().code == ErrorCode::not_found;
    if (page->batches.empty()) return true;
    for (const BatchPtr& batch : page->batches) {
      for (std::size_t i = 0; i < batch->size(); ++i) {
        std::uint64_t sequence = batch->first + i;
        if (batch->types[i] != EventType::status || sequence <= cursor.through || sequence > last) continue;
        std::string event = callback_event(batch->event(i), cursor.started);
        cursor.started = cursor.started || event == "started";
        if (std::ranges::find(asked, event) != asked.end()) found.push_back({id, sequence});
      }
      cursor.through = std::max(cursor.through, batch->last());
    }
  }
  return true;
}

void Callbacks::take_in(const Reports& news) {
  MutexLock lock(mutex_);
  for (const auto& [task, cursor] : news.cursors) {
    cursors_[task] = cursor;
    if (cursor.over) cursors_.erase(task);
  }
  for (const CallbackPlace& place : news.places) {
    if (records_.try_emplace(place).second) schedule(place, 0);
  }
}

void Callbacks::forget(const std::string& task) {
  std::vector<std::string> keys;
  {
    MutexLock lock(mutex_);
    cursors_.erase(task);
    auto first = records_.lower_bound({task, 0}), last = records_.upper_bound({task});
    for (auto each = first; each != last; ++each) keys.push_back(record_key(each->first));
    records_.erase(first, last);
    std::erase_if(due_, [&](const auto& each) { return each.second.task == task; });
  }
  parts_.journal.write(
      [task, keys](WriteTxn& txn) -> Result<void> {
        for (const std::string& key : keys) {
          if (auto put = txn.put_record(kRecordKind, key, ""); !put) return put;
        }
        return txn.put_record(kCursorKind, task, "");
      },
      [](Result<void>) {});
}

std::optional<CallbackRecord> Callbacks::find(const std::string& task) const {
  MutexLock lock(mutex_);
  auto found = records_.find({task});
  if (found == records_.end()) return std::nullopt;
  return found->second;
}

void Callbacks::schedule(const CallbackPlace& place, std::int64_t at_ms) {
  due_.insert({at_ms, place});
}

bool Callbacks::must_wait(const CallbackPlace& place) const {
  return std::any_of(records_.lower_bound({place.task, 0}), records_.lower_bound(place), [](const auto& earlier) {
    return earlier.second.attempts == 0 || earlier.second.claimed_ms != 0;
  });
}

void Callbacks::run() {
  for (;;) {
    while (step()) {
    }
    MutexLock lock(mutex_);
    if (stopping_) return;
    std::int64_t wait_ms = kLookAgainMs;
    if (!due_.empty()) {
      wait_ms = std::clamp<std::int64_t>(due_.begin()->first - parts_.clock.wall_ms(), 1, kLookAgainMs);
    }
    ready_.wait_for(mutex_, std::chrono::milliseconds(wait_ms));
  }
}

std::optional<CallbackPlace> Callbacks::take_due() {
  if (stopping_ || due_.empty() || due_.begin()->first > parts_.clock.wall_ms()) return std::nullopt;
  CallbackPlace place = due_.begin()->second;
  due_.erase(due_.begin());
  return place;
}

bool Callbacks::step() {
  std::optional<CallbackPlace> place;
  {
    MutexLock lock(mutex_);
    place = take_due();
  }
  if (place) attempt(*place);
  return place.has_value();
}

void Callbacks::attempt(const CallbackPlace& place) {
  const std::string& task = place.task;
  auto again_at = [&](std::int64_t at_ms) {
    MutexLock lock(mutex_);
    auto known = records_.find(place);
    if (known == records_.end()) return;
    known->second.claimed_ms = 0;
    schedule(place, at_ms);
  };
  std::int64_t now_ms = parts_.clock.wall_ms();
  auto row = parts_.journal.store().row(task);
  if (!row) {
    if (row.error().code == ErrorCode::not_found) return forget(task);
    return again_at(now_ms + kLookAgainMs);
  }
  CallbackRecord record;
  {
    MutexLock lock(mutex_);
    auto known = records_.find(place);
    if (known == records_.end()) return;
    if (must_wait(place)) return schedule(place, now_ms + kOrderPauseMs);
    if (auto url = net::parse_url(row->spec.callback_url)) {
      if (std::int64_t open_at = breaker_.may_try_at(host_of(*url)); open_at > now_ms) {
        schedule(place, open_at);
        return;
      }
      breaker_.trying(host_of(*url), now_ms);
    }
    known->second.claimed_ms = now_ms;
    record = known->second;
  }
  if (!write(place, record)) return again_at(now_ms + kLookAgainMs);
  Outcome outcome = send(*row, place);
  settle(record, outcome);
  // If the outcome cannot be written, the claim stays: a restart sends once more, with the same webhook-id.
  if (!write(place, record)) log_warn("the outcome of the callback of task {} could not be stored", task);
  if (outcome.given_up) return;
  (record.state == CallbackRecord::State::sent      ? sent_
   : record.state == CallbackRecord::State::pending ? retried_
                                                    : failed_)
      .add();
  MutexLock lock(mutex_);
  auto known = records_.find(place);
  if (known == records_.end()) return;  // deleted meanwhile
  if (record.state == CallbackRecord::State::pending) {
    known->second = record;
    schedule(place, record.next_ms);
  } else if (place.sequence == CallbackPlace::kEnd) {
    known->second = record;
  } else {
    records_.erase(known);  // a report leaves no record behind
  }
}

Callbacks::Outcome Callbacks::send(const TaskRow& task, const CallbackPlace& place) {
  auto url = callback_target(task.spec.callback_url);
  if (!url) return {.sent = false, .final = true, .status = 0, .error = url.error().message};
  bool end = place.sequence == CallbackPlace::kEnd;
  auto event = event_at(parts_.journal.store(), task.spec.id, end ? task.state.end_sequence : place.sequence);
  if (!event) return {.sent = false, .final = false, .status = 0, .error = event.error().message};
  if (!end && event->empty()) return {.sent = false, .final = true, .status = 0, .error = "its event is not kept"};
  CallbackMessage message = end ? callback_message(task, *event) : callback_report(task, place.sequence, *event);
  auto status =
      parts_.post(*url, callback_headers(message, key_, parts_.clock.wall_ms()), message.body, stop_.get_token());
  Outcome outcome;
  if (status) {
    outcome.status = *status;
    outcome.sent = is_good(*status);
    outcome.final = *status == 410;  // the receiver wants no more callbacks
    if (!outcome.sent) outcome.error = "answered with status " + std::to_string(*status);
  } else {
    outcome.given_up = stop_.stop_requested();
    if (outcome.given_up) return outcome;
    outcome.error = status.error().message;
    outcome.final = status.error().reason == "refused_address";
  }
  MutexLock lock(mutex_);
  // A receiver that answers is reachable; only silence and server errors open the circuit breaker.
  if (outcome.status != 0 && outcome.status < 500) {
    breaker_.succeeded(host_of(*url));
  } else {
    breaker_.failed(host_of(*url), parts_.clock.wall_ms());
  }
  return outcome;
}

void Callbacks::settle(CallbackRecord& record, const Outcome& outcome) const {
  record.claimed_ms = 0;
  record.next_ms = 0;
  if (outcome.given_up) return;  // as before; the next start makes this attempt
  ++record.attempts;
  record.status = outcome.status;
  record.error = outcome.error;
  if (outcome.sent) {
    record.state = CallbackRecord::State::sent;
  } else if (outcome.final || record.attempts >= config_.attempts) {
    record.state = CallbackRecord::State::failed;
  } else {
    std::int64_t pause_ms = kCallbackFirstPause.count() << std::min<std::int64_t>(record.attempts - 1, 20);
    pause_ms = std::min<std::int64_t>(pause_ms, kCallbackMostPause.count());
    // Adds up to a fifth, so that callbacks that failed together do not retry together.
    pause_ms += static_cast<std::int64_t>(parts_.random.below(static_cast<std::uint64_t>(pause_ms / 5 + 1)));
    record.next_ms = parts_.clock.wall_ms() + pause_ms;
  }
}

bool Callbacks::write(const CallbackPlace& place, const CallbackRecord& record) {
  std::promise<bool> written;
  bool keep = place.sequence == CallbackPlace::kEnd || record.state == CallbackRecord::State::pending;
  parts_.journal.write(
      [place, text = keep ? encode_callback_record(record) : std::string()](WriteTxn& txn) {
        // A task that was deleted meanwhile must leave no record for a later task with the same id. One that cannot be
        // read keeps it.
        auto row = txn.row(place.task);
        bool deleted = !row && row.error().code == ErrorCode::not_found;
        return txn.put_record(kRecordKind, record_key(place), deleted ? std::string() : text);
      },
      [&written](Result<void> result) { written.set_value(result.has_value()); });
  return written.get_future().get();
}

}  // namespace shepherd
