// The two threads behind an Outbox: the keeper writes to the spool, the poster posts from it.
#pragma once

#include <deque>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "client/limits.h"
#include "outbox/limits.h"
#include "outbox/outbox.h"
#include "outbox/spool.h"

namespace shepherd {

// Threads: public functions any; the rest as said.
class Outbox::Delivery {
 public:
  Delivery(std::unique_ptr<Spool> spool, EventSink& sink, const Clock& clock, Random& random);
  ~Delivery();

  void add(std::string event_json) EXCLUDES(mutex_);
  void add_end(std::string event_json) EXCLUDES(mutex_);
  void add_delta(std::string delta_json) EXCLUDES(mutex_);
  OutboxStatus status() const EXCLUDES(mutex_);
  Drained drain(std::chrono::milliseconds deadline) EXCLUDES(mutex_);
  const std::string& spool_path() const { return spool_->path(); }

 private:
  using Events = std::vector<SpooledEvent>;

  void enqueue(std::string event_json) REQUIRES(mutex_);
  void tell_lost() REQUIRES(mutex_);
  void settle_unsaved() EXCLUDES(mutex_);
  std::uint64_t undelivered() const REQUIRES(mutex_);
  bool given_up() const REQUIRES(mutex_);
  bool finished() const REQUIRES(mutex_);

  // The keeper's.
  void keep() EXCLUDES(mutex_);
  std::vector<std::string> take_queue() REQUIRES(mutex_);
  void keep_on_disk(std::vector<std::string> events) EXCLUDES(mutex_);
  void sync_while_away() EXCLUDES(mutex_);

  // The poster's.
  void post() EXCLUDES(mutex_);
  bool wait_for_work() EXCLUDES(mutex_);
  void deliver() EXCLUDES(mutex_);
  void deliver_deltas() EXCLUDES(mutex_);
  void accepted(const Events& events) EXCLUDES(mutex_);
  // What an error means for the events it is about; the settle functions answer true when they have dealt with it.
  void settle(const Events& events, const Error& error) EXCLUDES(mutex_);
  bool settle_refusal(const Events& events, const Error& error) EXCLUDES(mutex_);
  bool settle_conflict(const Events& events, const Error& error) EXCLUDES(mutex_);
  bool settle_end(const Events& events, const Error& error) EXCLUDES(mutex_);
  bool settle_orphan(const Error& error) EXCLUDES(mutex_);
  void give_up(OutboxState state, const Error& error) EXCLUDES(mutex_);
  bool replace(const SpooledEvent& event, const Error& why) EXCLUDES(mutex_);
  bool change_producer(const Error& why) EXCLUDES(mutex_);
  void trouble(const Error& error) EXCLUDES(mutex_);

  const std::unique_ptr<Spool> spool_;
  EventSink& sink_;
  const Clock& clock_;
  Random& random_;

  // The poster's own.
  std::size_t batch_events_ = kPostLines;
  std::chrono::milliseconds pause_ = kReconnectFirst;
  std::uint64_t last_resync_ = 0;  // where the server last made us go back to; twice in a row is not progress

  mutable Mutex mutex_;
  CondVar queued_;   // for the keeper
  CondVar work_;     // for the poster
  CondVar changed_;  // for drain
  std::deque<std::string> queue_ GUARDED_BY(mutex_);
  std::size_t keeping_ GUARDED_BY(mutex_) = 0;      // taken from the queue, not yet in the spool
  std::size_t queue_bytes_ GUARDED_BY(mutex_) = 0;  // of both
  bool unsynced_ GUARDED_BY(mutex_) = false;        // the spool has what the disk may not have
  std::deque<std::string> deltas_ GUARDED_BY(mutex_);
  std::size_t delta_bytes_ GUARDED_BY(mutex_) = 0;
  std::int64_t last_sync_ms_ GUARDED_BY(mutex_) = 0;
  std::uint64_t lost_untold_ GUARDED_BY(mutex_) = 0;
  std::string end_ GUARDED_BY(mutex_);       // the task's last event; empty: not yet
  bool posting_ GUARDED_BY(mutex_) = false;  // the poster has events on the way
  bool disk_refuses_ GUARDED_BY(mutex_) = false;
  std::int64_t retry_at_ms_ GUARDED_BY(mutex_) = 0;
  bool sealed_ GUARDED_BY(mutex_) = false;
  bool stopping_ GUARDED_BY(mutex_) = false;
  OutboxStatus status_ GUARDED_BY(mutex_);

  std::thread keeper_, poster_;
};

}  // namespace shepherd
