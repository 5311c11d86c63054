// The near side of an outbox: what add() does, and the keeper, the thread that writes to the spool. The poster is in
// outbox_poster.cpp.
#include "outbox/outbox.h"

#include <utility>

#include "base/ids.h"
#include "base/log.h"
#include "outbox/limits.h"
#include "outbox/outbox_event.h"

namespace shepherd {

Result<std::unique_ptr<Outbox>> Outbox::create(const OutboxOptions& options, EventSink& sink, const Clock& clock,
                                               Random& random) {
  SpoolIdentity identity{options.task, "runner-" + make_sortable_id(clock.wall_ms(), random), options.destination,
                         options.lease};
  auto spool = Spool::create(options.spool_directory, std::move(identity), options.spool_bytes);
  if (!spool) return fail(std::move(spool.error()));
  return std::unique_ptr<Outbox>(new Outbox(std::move(*spool), sink, clock, random));
}

Result<std::unique_ptr<Outbox>> Outbox::resume(const std::string& spool_path, EventSink& sink, const Clock& clock,
                                               Random& random) {
  auto spool = Spool::open(spool_path);
  if (!spool) return fail(std::move(spool.error()));
  return std::unique_ptr<Outbox>(new Outbox(std::move(*spool), sink, clock, random));
}

Outbox::Outbox(std::unique_ptr<Spool> spool, EventSink& sink, const Clock& clock, Random& random)
    : spool_(std::move(spool)), sink_(sink), clock_(clock), random_(random) {
  {
    MutexLock lock(mutex_);
    if (spool_->cut_bytes() > 0) enqueue(damaged_spool_event(spool_->cut_bytes(), clock_.wall_ms()));
  }
  keeper_ = std::thread([this] { keep(); });
  poster_ = std::thread([this] { post(); });
}

Outbox::~Outbox() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  queued_.notify_all();
  work_.notify_all();
  keeper_.join();
  poster_.join();
  settle_unsaved();
  MutexLock lock(mutex_);
  if (undelivered() == 0 || status_.state == OutboxState::ended) {
    spool_->remove();
  } else {
    spool_->sync();
  }
}

void Outbox::add(std::string event_json) {
  std::int64_t now_ms = clock_.wall_ms();
  std::optional<std::string> line = one_line_event(event_json);
  bool fits = line.has_value();
  if (!fits) line = unfit_event(event_json, now_ms);
  {
    MutexLock lock(mutex_);
    if (sealed_ || queue_bytes_ + spool_->held_bytes() + line->size() > kOutboxQueueBytes) {
      ++status_.lost;
      if (!sealed_) ++lost_unreported_;
      return;
    }
    if (!fits) ++status_.replaced;
    report_lost();
    enqueue(*std::move(line));
  }
  queued_.notify_one();
}

void Outbox::add_end(std::string event_json) {
  std::optional<std::string> line = one_line_event(event_json);
  {
    MutexLock lock(mutex_);
    if (sealed_) return;
    if (!line) line = unfit_event(event_json, clock_.wall_ms());
    report_lost();
    end_ = *line;
    enqueue(*std::move(line));
  }
  queued_.notify_one();
}

// Says it where the events are missing: before the next one.
void Outbox::report_lost() {
  if (lost_unreported_ > 0) enqueue(lost_events(std::exchange(lost_unreported_, 0), clock_.wall_ms()));
}

void Outbox::enqueue(std::string event_json) {
  queue_bytes_ += event_json.size();
  queue_.push_back(std::move(event_json));
}

void Outbox::add_delta(std::string delta_json) {
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

std::uint64_t Outbox::undelivered() const {
  return queue_.size() + keeping_ + spool_->undelivered();
}

bool Outbox::given_up() const {
  return status_.state == OutboxState::ended || status_.state == OutboxState::orphaned ||
         status_.state == OutboxState::superseded;
}

bool Outbox::finished() const {
  return undelivered() == 0 || given_up();
}

OutboxStatus Outbox::status() const {
  MutexLock lock(mutex_);
  OutboxStatus status = status_;
  status.undelivered = undelivered();
  if (status.state == OutboxState::ended) std::swap(status.undelivered, status.after_the_end);
  return status;
}

Drained Outbox::drain(std::chrono::milliseconds deadline) {
  std::int64_t deadline_ms = clock_.steady_ms() + deadline.count();
  {
    MutexLock lock(mutex_);
    sealed_ = true;
    report_lost();
    queued_.notify_one();
    retry_at_ms_ = 0;  // one try at once, even if the last one failed
    work_.notify_all();
    while (!finished()) {
      std::int64_t left_ms = deadline_ms - clock_.steady_ms();
      if (left_ms <= 0) break;
      changed_.wait_for(mutex_, std::chrono::milliseconds(left_ms));
    }
    // Waits for the keeper, which has added events only for a moment, and for a post of what is in memory.
    while (!given_up() && (!queue_.empty() || keeping_ > 0 || (spool_->holds() && posting_))) {
      changed_.wait_for(mutex_, kSpoolSync);
    }
  }
  settle_unsaved();
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

// Events that are only in memory are lost with this process. The spool gets how many these are, and the task's end.
void Outbox::settle_unsaved() {
  MutexLock lock(mutex_);
  if (!spool_->holds() || given_up()) return;
  std::uint64_t lost = 0;
  std::vector<std::string> last;
  for (const std::string& event : spool_->drop_held()) {
    if (event != end_) lost += lost_with(event);
  }
  if (lost > 0) last.push_back(lost_events(lost, clock_.wall_ms()));
  if (!end_.empty()) last.push_back(end_);
  status_.lost += lost;
  if (auto kept = spool_->append_last(last); !kept) {
    status_.lost += last.size();
    log_warn("the end of a log is lost: {}", kept.error().message);
  }
}

void Outbox::keep() {
  for (;;) {
    std::vector<std::string> events;
    {
      MutexLock lock(mutex_);
      while (queue_.empty() && !stopping_) {
        bool away = status_.state == OutboxState::waiting || status_.state == OutboxState::refused;
        if (!spool_->holds() && (!away || !unsynced_)) {
          queued_.wait(mutex_);
        } else if (!queued_.wait_for(mutex_, kSpoolSync)) {
          break;
        }
      }
      events = take_queue();
      if (events.empty() && stopping_) return;
    }
    if (!events.empty() || spool_->holds()) keep_on_disk(std::move(events));
    sync_while_away();
  }
}

std::vector<std::string> Outbox::take_queue() {
  std::vector<std::string> events{std::make_move_iterator(queue_.begin()), std::make_move_iterator(queue_.end())};
  queue_.clear();
  keeping_ = events.size();
  return events;
}

// Events that the disk does not take wait in memory. The poster posts them from there.
void Outbox::keep_on_disk(std::vector<std::string> events) {
  std::size_t bytes = 0;
  for (const std::string& event : events) bytes += event.size();
  auto appended = spool_->append(events);
  if (!appended) spool_->hold(std::move(events));
  bool was_refusing = false;
  {
    MutexLock lock(mutex_);
    queue_bytes_ -= bytes;
    keeping_ = 0;
    if (appended) unsynced_ = true;
    was_refusing = std::exchange(disk_refuses_, !appended);
    work_.notify_one();
    changed_.notify_all();
  }
  if (!appended && !was_refusing) log_warn("events wait in memory: {}", appended.error().message);
  if (appended && was_refusing) log_info("{} can be written again", spool_->path());
}

// At most every kSpoolSync: see spool.h for why not always.
void Outbox::sync_while_away() {
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
