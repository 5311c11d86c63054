// The far side of an outbox: the poster, the thread that posts from the spool, and what it does on each answer of the
// server.
#include <algorithm>
#include <utility>
#include <variant>

#include "base/ids.h"
#include "base/log.h"
#include "client/limits.h"
#include "outbox/limits.h"
#include "outbox/outbox.h"
#include "outbox/outbox_event.h"

namespace shepherd {
namespace {

std::optional<std::uint64_t> number_in(const Error& error, std::string_view field) {
  for (const ErrorField& given : error.fields) {
    const auto* number = std::get_if<std::int64_t>(&given.value);
    if (given.name == field && number != nullptr && *number >= 0) return static_cast<std::uint64_t>(*number);
  }
  return std::nullopt;
}

// `waiting` for errors that the server or the network recovers from, `refused` for those an operator has to act on.
OutboxState state_after(ErrorCode code) {
  switch (code) {
    case ErrorCode::rate_limited:
    case ErrorCode::unavailable:
    case ErrorCode::storage_full:
    case ErrorCode::internal:
      return OutboxState::waiting;
    default:
      return OutboxState::refused;
  }
}

}  // namespace

void Outbox::post() {
  while (wait_for_work()) {
    deliver();
    MutexLock lock(mutex_);
    posting_ = false;
    changed_.notify_all();
  }
}

// False when the outbox is stopping. A batch that is not full waits kOutboxLinger for more events.
bool Outbox::wait_for_work() {
  MutexLock lock(mutex_);
  std::int64_t linger_until_ms = 0;
  for (;;) {
    if (stopping_) return false;
    std::uint64_t waiting = spool_->undelivered();
    std::int64_t now_ms = clock_.steady_ms();
    if (given_up() || (waiting == 0 && deltas_.empty())) {
      work_.wait(mutex_);
      continue;
    }
    std::int64_t until_ms = retry_at_ms_;
    if (until_ms <= now_ms && !sealed_ && waiting < kPostLines) {
      if (linger_until_ms == 0) linger_until_ms = now_ms + kOutboxLinger.count();
      until_ms = linger_until_ms;
    }
    if (until_ms <= now_ms) {
      posting_ = true;
      return true;
    }
    work_.wait_for(mutex_, std::chrono::milliseconds(until_ms - now_ms));
  }
}

void Outbox::deliver() {
  auto events = spool_->read_after(spool_->delivered(), batch_events_, kPostBytes);
  if (!events) return trouble(events.error());
  // After reading the spool and before posting its events, so that a delta never arrives later than its event.
  deliver_deltas();
  if (events->empty()) return;
  std::string body;
  for (const SpooledEvent& event : *events) {
    append_numbered(body, event.number, event.json);
    body += '\n';
  }
  SpoolIdentity identity = spool_->identity();
  auto posted = sink_.post_events(identity.task, body, identity.producer);
  if (posted) {
    accepted(*events);
  } else {
    settle(*events, posted.error());
  }
}

void Outbox::deliver_deltas() {
  std::string body;
  std::size_t count = 0;
  bool away = false;
  {
    MutexLock lock(mutex_);
    away = status_.state != OutboxState::delivering;
    for (const std::string& delta : deltas_) body += (body.empty() ? "[" : ",") + delta;
    count = deltas_.size();
    deltas_.clear();
    delta_bytes_ = 0;
  }
  if (count == 0) return;
  if (!away && sink_.post_deltas(spool_->identity().task, body + "]")) return;
  MutexLock lock(mutex_);
  status_.deltas_dropped += count;
}

void Outbox::accepted(const Events& events) {
  // keep_on_disk() reports a full disk.
  auto noted = spool_->set_delivered(events.back().number);
  if (!noted && noted.error().code != ErrorCode::storage_full) log_warn("{}", noted.error().message);
  pause_ = kReconnectFirst;
  last_resync_ = 0;
  batch_events_ = std::min(kPostLines, batch_events_ * 2);
  bool was_away = false;
  {
    MutexLock lock(mutex_);
    was_away = std::exchange(status_.state, OutboxState::delivering) != OutboxState::delivering;
    status_.trouble.reset();
    status_.delivered += events.size();
  }
  changed_.notify_all();
  if (was_away) log_info("the server takes events again; {} wait in {}", spool_->undelivered(), spool_->path());
}

void Outbox::settle(const Events& events, const Error& error) {
  if (settle_end(events, error) || settle_orphan(error)) return;
  if (!settle_conflict(events, error) && !settle_refusal(events, error)) trouble(error);
}

// Repeats before the end are fine, so the first ones may still be deliverable.
bool Outbox::settle_end(const Events& events, const Error& error) {
  if (error.code != ErrorCode::gone) return false;
  auto index = number_in(error, "index").value_or(0);
  if (index > 0 && index < events.size()) {
    batch_events_ = index;
    return true;
  }
  give_up(OutboxState::ended, error);
  return true;
}

// Only with the server's own reason: a 404 without it may come from a proxy on the way.
bool Outbox::settle_orphan(const Error& error) {
  if (error.code != ErrorCode::not_found || error.reason != "unknown_task") return false;
  give_up(OutboxState::orphaned, error);
  return true;
}

void Outbox::give_up(OutboxState state, const Error& error) {
  MutexLock lock(mutex_);
  status_.state = state;
  status_.trouble = error;
  deltas_.clear();
  changed_.notify_all();
}

bool Outbox::settle_conflict(const Events& events, const Error& error) {
  if (error.code != ErrorCode::conflict) return false;
  if (error.reason == "lease_lost") {
    give_up(OutboxState::superseded, error);
    return true;
  }
  std::uint64_t posted = events.front().number;
  if (error.reason == "sequence_reused") {
    std::uint64_t reused = number_in(error, "sequence").value_or(posted);
    if (reused <= posted) return change_producer(error);
    batch_events_ = reused - posted;
    return true;
  }
  auto expected = number_in(error, "expectedSequence");
  if (!expected || *expected == 0 || *expected >= posted || *expected == last_resync_) return false;
  last_resync_ = *expected;
  log_warn("the server wants event {} of {} again", *expected, spool_->path());
  if (*expected < spool_->first()) return change_producer(error);
  return spool_->set_delivered(*expected - 1).has_value();
}

bool Outbox::settle_refusal(const Events& events, const Error& error) {
  bool refusal = error.code == ErrorCode::invalid_argument || error.code == ErrorCode::too_large ||
                 error.reason == "reserved_type";
  if (!refusal) return false;
  auto index = number_in(error, "index");
  if (index) return *index < events.size() && replace(events[*index], error);
  // Without an index the whole request was refused. A smaller request helps only if it was too large.
  if (error.code != ErrorCode::too_large) return false;
  if (events.size() == 1) return replace(events.front(), error);
  batch_events_ = events.size() / 2;
  return true;
}

bool Outbox::replace(const SpooledEvent& event, const Error& why) {
  if (event.replaced) return false;  // a server that refuses this refuses everything
  log_warn("the server refused an event, a log event takes its place: {}", why.message);
  auto kept = spool_->replace(event.number, refused_event(event.json, why, clock_.wall_ms()));
  if (!kept) log_warn("{}", kept.error().message);
  MutexLock lock(mutex_);
  ++status_.replaced;
  return true;
}

bool Outbox::change_producer(const Error& why) {
  std::int64_t now_ms = clock_.wall_ms();
  auto changed = spool_->change_producer("runner-" + make_sortable_id(now_ms, random_));
  if (!changed) return false;
  log_warn("{} goes on under a new producer id: {}", spool_->path(), why.message);
  {
    MutexLock lock(mutex_);
    enqueue(new_producer_event(why.message, now_ms));
  }
  queued_.notify_one();
  return true;
}

// Full jitter over the upper half: many runners that lost the same server do not come back at once.
void Outbox::trouble(const Error& error) {
  auto pause_ms = static_cast<std::uint64_t>(pause_.count());
  pause_ms = pause_ms / 2 + random_.below(pause_ms / 2 + 1);
  pause_ = std::min(pause_ * 2, kReconnectMost);
  OutboxState state = state_after(error.code);
  bool changed = false;
  {
    MutexLock lock(mutex_);
    changed = std::exchange(status_.state, state) != state;
    status_.trouble = error;
    status_.deltas_dropped += deltas_.size();
    deltas_.clear();
    delta_bytes_ = 0;
    retry_at_ms_ = clock_.steady_ms() + static_cast<std::int64_t>(pause_ms);
  }
  queued_.notify_one();  // the keeper syncs the spool
  if (changed) log_warn("events wait in {}: {}", spool_->path(), error.message);
}

}  // namespace shepherd
