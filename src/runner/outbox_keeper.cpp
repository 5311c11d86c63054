// The near side of an outbox: what add() does, and the thread that brings it to the disk.
#include <algorithm>
#include <utility>

#include "base/log.h"
#include "runner/limits.h"
#include "runner/outbox_delivery.h"
#include "runner/outbox_event.h"

namespace shepherd {

Outbox::Delivery::Delivery(std::unique_ptr<Spool> spool, EventSink& sink, const Clock& clock, Random& random)
    : spool_(std::move(spool)), sink_(sink), clock_(clock), random_(random) {
  {
    MutexLock lock(mutex_);
    if (spool_->cut_bytes() > 0) enqueue(damaged_spool_event(spool_->cut_bytes(), clock_.wall_ms()));
  }
  keeper_ = std::thread([this] { keep(); });
  poster_ = std::thread([this] { post(); });
}

Outbox::Delivery::~Delivery() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  queued_.notify_all();
  work_.notify_all();
  keeper_.join();
  poster_.join();
  MutexLock lock(mutex_);
  if (undelivered() == 0 || status_.state == OutboxState::ended) {
    spool_->remove();
  } else {
    spool_->sync();
  }
}

void Outbox::Delivery::add(std::string event_json) {
  std::int64_t now_ms = clock_.wall_ms();
  std::optional<std::string> line = one_line_event(event_json);
  bool fits = line.has_value();
  if (!fits) line = unfit_event(event_json, now_ms);
  {
    MutexLock lock(mutex_);
    if (sealed_ || queue_bytes_ + line->size() > kOutboxQueueBytes) {
      ++status_.lost;
      if (!sealed_) ++lost_untold_;
      return;
    }
    if (!fits) ++status_.replaced;
    enqueue(*std::move(line));
  }
  queued_.notify_one();
}

void Outbox::Delivery::enqueue(std::string event_json) {
  queue_bytes_ += event_json.size();
  queue_.push_back(std::move(event_json));
}

void Outbox::Delivery::add_delta(std::string delta_json) {
  {
    MutexLock lock(mutex_);
    if (status_.state != OutboxState::delivering || sealed_ || delta_json.size() > kOutboxDeltaBytes) {
      ++status_.deltas_dropped;
      return;
    }
    delta_bytes_ += delta_json.size();
    deltas_.push_back(std::move(delta_json));
    while (deltas_.size() > kOutboxDeltas || delta_bytes_ > kOutboxDeltaBytes) {
      delta_bytes_ -= deltas_.front().size();
      deltas_.pop_front();
      ++status_.deltas_dropped;
    }
  }
  work_.notify_one();
}

std::uint64_t Outbox::Delivery::undelivered() const {
  return queue_.size() + keeping_ + spool_->undelivered();
}

bool Outbox::Delivery::given_up() const {
  return status_.state == OutboxState::ended || status_.state == OutboxState::orphaned;
}

bool Outbox::Delivery::finished() const {
  return undelivered() == 0 || given_up();
}

OutboxStatus Outbox::Delivery::status() const {
  MutexLock lock(mutex_);
  OutboxStatus status = status_;
  status.undelivered = undelivered();
  if (status.state == OutboxState::ended) std::swap(status.undelivered, status.after_the_end);
  return status;
}

Drained Outbox::Delivery::drain(std::chrono::milliseconds deadline) {
  std::int64_t deadline_ms = clock_.steady_ms() + deadline.count();
  {
    MutexLock lock(mutex_);
    sealed_ = true;
    retry_at_ms_ = 0;  // one try at once, whatever the last one said
    work_.notify_all();
    while (!finished()) {
      std::int64_t left_ms = deadline_ms - clock_.steady_ms();
      if (left_ms <= 0) break;
      changed_.wait_for(mutex_, std::chrono::milliseconds(left_ms));
    }
  }
  Drained drained;
  drained.status = status();
  drained.everything = drained.status.undelivered == 0 && drained.status.state != OutboxState::ended;
  if (drained.status.undelivered == 0) {
    spool_->remove();
  } else {
    spool_->sync();
    drained.spool_path = spool_->path();
  }
  return drained;
}

void Outbox::Delivery::keep() {
  for (;;) {
    std::vector<std::string> events;
    {
      MutexLock lock(mutex_);
      while (queue_.empty() && lost_untold_ == 0 && !stopping_) {
        bool away = status_.state == OutboxState::waiting || status_.state == OutboxState::refused;
        if (!away || !unsynced_) {
          queued_.wait(mutex_);
        } else if (!queued_.wait_for(mutex_, kSpoolSync)) {
          break;
        }
      }
      events = take_queue();
      if (events.empty() && stopping_) return;
    }
    if (!events.empty()) keep_on_disk(events);
    sync_while_away();
  }
}

std::vector<std::string> Outbox::Delivery::take_queue() {
  std::vector<std::string> events{std::make_move_iterator(queue_.begin()), std::make_move_iterator(queue_.end())};
  queue_.clear();
  if (lost_untold_ > 0) {
    events.push_back(lost_events(std::exchange(lost_untold_, 0), clock_.wall_ms()));
    queue_bytes_ += events.back().size();
  }
  keeping_ = events.size();
  return events;
}

// Tries until it succeeds: meanwhile the queue takes what it can.
void Outbox::Delivery::keep_on_disk(const std::vector<std::string>& events) {
  for (bool told = false;; told = true) {
    auto appended = spool_->append(events);
    if (!appended && !told) log_warn("events wait in memory: {}", appended.error().message);
    MutexLock lock(mutex_);
    if (!appended && !stopping_) {
      std::int64_t again_ms = clock_.steady_ms() + kSpoolSync.count();
      while (!stopping_ && clock_.steady_ms() < again_ms) {
        queued_.wait_for(mutex_, std::chrono::milliseconds(std::max<std::int64_t>(again_ms - clock_.steady_ms(), 1)));
      }
      continue;
    }
    if (!appended) status_.lost += events.size();
    for (const std::string& event : events) queue_bytes_ -= event.size();
    keeping_ = 0;
    unsynced_ = true;
    work_.notify_one();
    changed_.notify_all();
    return;
  }
}

// At most every kSpoolSync: see spool.h for why not always.
void Outbox::Delivery::sync_while_away() {
  {
    MutexLock lock(mutex_);
    bool away = status_.state == OutboxState::waiting || status_.state == OutboxState::refused;
    if (!away || !unsynced_ || clock_.steady_ms() < last_sync_ms_ + kSpoolSync.count()) return;
    unsynced_ = false;
    last_sync_ms_ = clock_.steady_ms();
  }
  spool_->sync();
}

}  // namespace shepherd
