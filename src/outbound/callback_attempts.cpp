#include "outbound/callback_attempts.h"

#include <algorithm>
#include <utility>

#include "base/ids.h"
#include "base/log.h"
#include "outbound/callback_message.h"
#include "outbound/callback_reports.h"
#include "outbound/callback_target.h"
#include "outbound/limits.h"

namespace shepherd {
namespace {

constexpr std::int64_t kLookAgainMs = 1'000;  // after the store could not be read or written, or others come first

bool is_good(int status) {
  return status >= 200 && status < 300;
}

// The name of a receiver for the circuit breaker and its share of attempts.
std::string receiver_of(const TaskRow& task) {
  auto url = net::parse_url(task.spec.callback_url);
  return url ? url->host + ":" + url->port : "none";
}

}  // namespace

CallbackAttempts::CallbackAttempts(CallbackParts parts, CallbackConfig config)
    : parts_(parts),
      config_(std::move(config)),
      key_(callback_key(config_.secret)),
      claimant_{make_sortable_id(parts_.clock.wall_ms(), parts_.random), config_.sole_process},
      sent_(parts_.metrics.counter("shepherd_callbacks_sent_total", "Callbacks that were taken")),
      retried_(parts_.metrics.counter("shepherd_callbacks_retried_total", "Attempts that failed and are repeated")),
      failed_(parts_.metrics.counter("shepherd_callbacks_failed_total", "Callbacks that were given up")) {}

CallbackAttempts::Outcome CallbackAttempts::outcome_of(const Result<int>& status) {
  Outcome outcome;
  if (status) {
    outcome.status = *status;
    outcome.sent = is_good(*status);
    outcome.final = *status == 410;  // the receiver wants no more callbacks
    if (!outcome.sent) outcome.error = "answered with status " + std::to_string(*status);
  } else {
    outcome.error = status.error().message;
    outcome.final = status.error().reason == "refused_address";
  }
  return outcome;
}

std::int64_t CallbackAttempts::due_ms(const CallbackRecord& record) const {
  bool others = record.claimed_ms != 0 && record.claimed_by != claimant_.id && !claimant_.sole;
  return others ? record.claimed_ms + kCallbackTakeover.count() : record.next_ms;
}

void CallbackAttempts::restore(const CallbackPlace& place, CallbackRecord record) {
  if (claimant_.sole) record.claimed_ms = 0;  // the claimant is gone
  std::int64_t at_ms = due_ms(record);
  MutexLock lock(mutex_);
  queue_.set(place, std::move(record), at_ms);
}

void CallbackAttempts::add(const CallbackPlace& place, std::int64_t created_ms) {
  CallbackRecord record;
  record.created_ms = created_ms;
  MutexLock lock(mutex_);
  queue_.set(place, std::move(record), 0);
}

void CallbackAttempts::learn(const CallbackPlace& place, const std::optional<CallbackRecord>& stored) {
  MutexLock lock(mutex_);
  if (attempts_.contains(place) || queue_.find(place) == nullptr) return;
  if (stored) {
    queue_.set(place, *stored, due_ms(*stored));
  } else {
    queue_.erase(place);
  }
  queue_.release(place.task);
}

void CallbackAttempts::set_cursor(const std::string& task, const CallbackCursor& cursor) {
  MutexLock lock(mutex_);
  queue_.set_cursor(task, cursor);
}

void CallbackAttempts::forget(const std::string& task) {
  MutexLock lock(mutex_);
  queue_.erase_task(task);
}

std::optional<CallbackRecord> CallbackAttempts::find(const CallbackPlace& place) const {
  MutexLock lock(mutex_);
  const CallbackRecord* record = queue_.find(place);
  return record == nullptr ? std::nullopt : std::optional(*record);
}

CallbackCursor CallbackAttempts::cursor(const std::string& task) const {
  MutexLock lock(mutex_);
  return queue_.cursor(task);
}

std::vector<CallbackPlace> CallbackAttempts::of_task(const std::string& task) const {
  MutexLock lock(mutex_);
  return queue_.of_task(task);
}

void CallbackAttempts::stop() {
  std::map<CallbackPlace, Attempt> active;
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    active.swap(attempts_);
  }
  if (parts_.poster != nullptr) parts_.poster->stop();
  for (auto& [place, attempt] : active) {
    if (attempt.claimed_ms == 0) continue;
    if (!attempt.unsaved) attempt.record.claimed_ms = 0;  // as before the attempt; the next start makes it
    keep(place, attempt.record, attempt.claimed_ms);
  }
}

void CallbackAttempts::tick() {
  std::vector<std::pair<CallbackPlace, Attempt>> unsaved;
  {
    MutexLock lock(mutex_);
    for (auto& [place, attempt] : attempts_) {
      if (std::exchange(attempt.unsaved, false)) unsaved.emplace_back(place, attempt);
    }
  }
  for (const auto& [place, attempt] : unsaved) keep(place, attempt.record, attempt.claimed_ms);
  begin_due();
}

void CallbackAttempts::begin_due() {
  if (parts_.poster == nullptr) return;
  for (;;) {
    std::optional<CallbackPlace> place;
    {
      MutexLock lock(mutex_);
      if (stopping_ || attempts_.size() >= config_.in_flight) return;
      place = queue_.take_due(parts_.clock.wall_ms());
      if (!place) return;
      if (!attempts_.try_emplace(*place).second) continue;  // its end decides when it is due again
    }
    parts_.workers.post([self = shared_from_this(), place = *place] { self->prepare(place); });
  }
}

void CallbackAttempts::prepare(const CallbackPlace& place) {
  auto task = parts_.journal.store().row(place.task);
  if (!task) {
    if (task.error().code != ErrorCode::not_found) return again_at(place, parts_.clock.wall_ms() + kLookAgainMs);
    {
      MutexLock lock(mutex_);
      end_attempt(place);
    }
    return drop(place.task);
  }
  {
    MutexLock lock(mutex_);
    if (!attempts_.contains(place)) return;  // stopped
    if (!may_begin(place, receiver_of(*task))) return end_attempt(place);
  }
  claim(place, std::move(*task));
}

// If not, it waits for what prevents it.
bool CallbackAttempts::may_begin(const CallbackPlace& place, const std::string& receiver) {
  if (queue_.find(place) == nullptr) return false;
  for (const CallbackPlace& other : queue_.of_task(place.task)) {
    if (other == place) continue;
    auto attempt = attempts_.find(other);
    bool under_way = attempt != attempts_.end() && !attempt->second.receiver.empty();
    if (under_way || (other < place && queue_.find(other)->attempts == 0)) {
      queue_.wait_for(place.task, place);
      return false;
    }
  }
  auto same = std::ranges::count_if(attempts_, [&](const auto& each) { return each.second.receiver == receiver; });
  if (static_cast<std::size_t>(same) >= kCallbacksPerHost) {
    queue_.wait_for(receiver, place);
    return false;
  }
  std::int64_t now_ms = parts_.clock.wall_ms();
  if (std::int64_t open_at = breaker_.may_try_at(receiver); open_at > now_ms) {
    queue_.schedule(place, open_at);
    queue_.wait_for(receiver, place);  // an earlier end of the pause
    return false;
  }
  breaker_.trying(receiver, now_ms);
  attempts_[place].receiver = receiver;
  return true;
}

void CallbackAttempts::claim(const CallbackPlace& place, TaskRow task) {
  KnownCallbacks known{task.created_ms, {}, 0};
  {
    MutexLock lock(mutex_);
    const CallbackRecord* record = queue_.find(place);
    if (record != nullptr && record->created_ms != 0) known.created_ms = record->created_ms;
    known.places = queue_.of_task(place.task);
    known.through = queue_.cursor(place.task).through;
  }
  parts_.journal.write(
      [self = shared_from_this(), place, known = std::move(known)](WriteTxn& txn) {
        return claim_callback(txn, place, known, self->claimant_, self->parts_.clock.wall_ms());
      },
      [self = shared_from_this(), place, task = std::move(task)](Result<CallbackClaim> claim) {
        self->claimed(place, task, std::move(claim));
      });
}

void CallbackAttempts::claimed(const CallbackPlace& place, const TaskRow& task, Result<CallbackClaim> claim) {
  if (!claim) return again_at(place, parts_.clock.wall_ms() + kLookAgainMs);
  using Answer = CallbackClaim::Answer;
  bool granted = claim->answer == Answer::granted;
  bool begun = false;
  {
    MutexLock lock(mutex_);
    auto attempt = attempts_.find(place);
    begun = attempt != attempts_.end();
    if (begun && granted) {
      attempt->second.claimed_ms = claim->record.claimed_ms;
      attempt->second.record = claim->record;
    } else if (begun) {
      if (claim->answer == Answer::gone) queue_.erase(place);
      if (claim->answer == Answer::behind) queue_.schedule(place, parts_.clock.wall_ms() + kLookAgainMs);
      if (claim->answer == Answer::wait) queue_.set(place, claim->record, due_ms(claim->record));
      end_attempt(place);
    }
  }
  if (granted && begun) {
    return parts_.workers.post([self = shared_from_this(), place, task] { self->send(place, task); });
  }
  if (!granted) return begin_due();
  std::int64_t claimed_ms = std::exchange(claim->record.claimed_ms, 0);  // stopped meanwhile
  keep(place, claim->record, claimed_ms);
}

void CallbackAttempts::send(const CallbackPlace& place, const TaskRow& task) {
  std::int64_t claimed_ms = 0;
  {
    MutexLock lock(mutex_);
    auto attempt = attempts_.find(place);
    if (attempt == attempts_.end()) return;  // stopped
    claimed_ms = attempt->second.claimed_ms;
  }
  auto url = callback_target(task.spec.callback_url);
  if (!url) return settled(place, claimed_ms, {.final = true, .error = url.error().message});
  bool end = place.sequence == CallbackPlace::kEnd;
  auto event = event_at(parts_.journal.store(), task.spec.id, end ? task.state.end_sequence : place.sequence);
  if (!event) return settled(place, claimed_ms, {.unsent = true});
  if (!end && event->empty()) return settled(place, claimed_ms, {.final = true, .error = "its event is not kept"});
  CallbackMessage message = end ? callback_message(task, *event) : callback_report(task, place.sequence, *event);
  net::HeaderList headers = callback_headers(message, key_, parts_.clock.wall_ms());
  parts_.poster->post({*std::move(url), std::move(headers), std::move(message.body)},
                      [self = shared_from_this(), place, claimed_ms](const Result<int>& status) {
                        self->answered(place, claimed_ms, status);
                      });
}

void CallbackAttempts::answered(const CallbackPlace& place, std::int64_t claimed_ms, const Result<int>& status) {
  {
    MutexLock lock(mutex_);
    auto attempt = attempts_.find(place);
    if (attempt == attempts_.end()) return;  // given up by stop(), so not the receiver's fault
    // A receiver that answers is reachable; only silence and server errors open the circuit breaker_.
    if (status && *status < 500) {
      breaker_.succeeded(attempt->second.receiver);
    } else {
      breaker_.failed(attempt->second.receiver, parts_.clock.wall_ms());
    }
  }
  settled(place, claimed_ms, outcome_of(status));
}

void CallbackAttempts::settled(const CallbackPlace& place, std::int64_t claimed_ms, const Outcome& outcome) {
  CallbackRecord record;
  {
    MutexLock lock(mutex_);
    auto attempt = attempts_.find(place);
    if (attempt == attempts_.end()) return;
    apply(attempt->second.record, outcome);
    record = attempt->second.record;
  }
  if (outcome.unsent) return keep(place, record, claimed_ms);
  (record.state == CallbackRecord::State::sent      ? sent_
   : record.state == CallbackRecord::State::pending ? retried_
                                                    : failed_)
      .add();
  keep(place, record, claimed_ms);
}

void CallbackAttempts::apply(CallbackRecord& record, const Outcome& outcome) const {
  record.claimed_ms = 0;
  record.next_ms = outcome.unsent ? parts_.clock.wall_ms() + kLookAgainMs : 0;
  if (outcome.unsent) return;
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

void CallbackAttempts::keep(const CallbackPlace& place, const CallbackRecord& record, std::int64_t claimed_ms) {
  parts_.journal.write(
      [place, record, claimed_ms](WriteTxn& txn) { return keep_outcome(txn, place, record, claimed_ms); },
      [self = shared_from_this(), place, record](const Result<std::optional<CallbackRecord>>& written) {
        self->kept(place, record, written);
      });
}

void CallbackAttempts::kept(const CallbackPlace& place, const CallbackRecord& record,
                            const Result<std::optional<CallbackRecord>>& written) {
  {
    MutexLock lock(mutex_);
    if (!written) {
      // The claim stays: if this process ends now, another attempt follows, with the same webhook-id.
      log_warn("the outcome of the callback of task {} could not be stored: {}", place.task, written.error().message);
      if (auto attempt = attempts_.find(place); attempt != attempts_.end()) attempt->second.unsaved = true;
      return;
    }
    const CallbackRecord* known = queue_.find(place);
    bool replaced = known != nullptr && known->created_ms != 0 && known->created_ms != record.created_ms;
    if (replaced) {
      queue_.schedule(place, 0);  // of another task with the same id
    } else if (!*written) {
      queue_.erase(place);
    } else if (known != nullptr) {
      queue_.set(place, **written, due_ms(**written));
    }
    end_attempt(place);
  }
  begin_due();
}

void CallbackAttempts::end_attempt(const CallbackPlace& place) {
  auto attempt = attempts_.find(place);
  if (attempt == attempts_.end()) return;
  std::string receiver = std::move(attempt->second.receiver);
  attempts_.erase(attempt);
  if (receiver.empty()) return;  // it has not begun
  queue_.release(place.task);
  queue_.release(receiver);
}

void CallbackAttempts::again_at(const CallbackPlace& place, std::int64_t at_ms) {
  MutexLock lock(mutex_);
  queue_.schedule(place, at_ms);
  end_attempt(place);
}

// The task is gone, and the stream said so before this process knew of its callbacks.
void CallbackAttempts::drop(const std::string& task) {
  std::set<CallbackPlace> places;
  {
    MutexLock lock(mutex_);
    auto known = queue_.of_task(task);
    places.insert(known.begin(), known.end());
  }
  parts_.journal.write([task, places](WriteTxn& txn) { return drop_callbacks(txn, task, places); },
                       [self = shared_from_this(), task, places](Result<void> dropped) {
                         if (dropped) return self->forget(task);
                         for (const CallbackPlace& place : places)
                           self->again_at(place, self->parts_.clock.wall_ms() + kLookAgainMs);
                       });
}

}  // namespace shepherd
