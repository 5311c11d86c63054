// Delivers the events of one task to the server.
//
// add() passes an event to a thread, the keeper, that writes it to a spool file. A second thread, the poster, posts
// from the file, in batches, as a strict producer whose id is in the file. The agent therefore never waits for the
// server, a dead server fills the disk and not the memory, and a killed runner leaves all events but those of the last
// milliseconds to the process that delivers the spool next. If the disk is full, events are posted from memory. If the
// server is down as well, events that no longer fit are lost, and the log has their number before the task's end.
//
// Reactions to the server's answers:
//   accepted                      the spool records the number
//   down, busy, 5xx               retry with growing pauses
//   400, 413, 403 reserved_type   replace that event by a `log` event with its number that names the refusal
//   409 expectedSequence          continue there; a number that is no longer in the spool needs a new producer id
//   409 sequence_reused           the same: the machine lost the end of a spool that the server had already seen
//   410                           the task has ended and accepts nothing more: state `ended`
//   404 unknown_task              the task was deleted, so these events can never be delivered: state `orphaned`
//   409 lease_lost                another runner has the task; its log excludes these events: state `superseded`
//   401, 403, other               state `refused` with the error; retry, because a person may fix it
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/result.h"
#include "client/limits.h"
#include "outbox/event_out.h"
#include "outbox/event_sink.h"
#include "outbox/limits.h"
#include "outbox/spool.h"

namespace shepherd {

enum class OutboxState {
  delivering,
  waiting,     // the server is down
  refused,     // the server refuses this producer; a person must act
  ended,       // the task has ended
  orphaned,    // the server has no such task
  superseded,  // another runner has the task
};

struct OutboxStatus {
  OutboxState state = OutboxState::delivering;
  std::optional<Error> trouble;     // why it is not delivering
  std::uint64_t undelivered = 0;    // in the spool or about to be
  std::uint64_t delivered = 0;      // since it was opened
  std::uint64_t replaced = 0;       // by `log` events: refused, or not events at all
  std::uint64_t lost = 0;           // neither memory nor disk had room; the log has the number
  std::uint64_t after_the_end = 0;  // too late for a task that has ended
  std::uint64_t deltas_dropped = 0;
};

struct OutboxOptions {
  std::string spool_directory;
  std::string task;
  std::string destination;  // recorded in the spool, for people
  std::int64_t lease = 0;   // the sink's lease, recorded for a later delivery of the spool; 0 for none
  std::size_t spool_bytes = kSpoolBytes;
};

struct Drained {
  bool everything = false;  // the server has all events, and the spool is removed
  std::string spool_path;   // the rest; Spool::pending() will find it
  OutboxStatus status;
};

// Threads: any for public functions; the rest as noted. Only the poster uses `sink` and `random`; these and `clock`
// must outlive the outbox.
class Outbox final : public EventOut {
 public:
  // A new producer. Errors are those of Spool::create().
  static Result<std::unique_ptr<Outbox>> create(const OutboxOptions& options, EventSink& sink, const Clock& clock,
                                                Random& random);
  // Continues a spool that was left behind. Errors are those of Spool::open().
  static Result<std::unique_ptr<Outbox>> resume(const std::string& spool_path, EventSink& sink, const Clock& clock,
                                                Random& random);
  // Writes all added events to the spool. Waits for an active post (kClientTimeout at most).
  ~Outbox() override;

  void add(std::string event_json) override EXCLUDES(mutex_);
  void add_end(std::string event_json) override EXCLUDES(mutex_);
  void add_delta(std::string delta_json) override EXCLUDES(mutex_);

  OutboxStatus status() const EXCLUDES(mutex_);
  const std::string& spool_path() const { return spool_->path(); }

  // Accepts no more events and tries until the server has all of them, they can no longer be delivered, or the time is
  // over. Events that are then only in memory are lost, except for the end.
  Drained drain(std::chrono::milliseconds deadline) EXCLUDES(mutex_);

 private:
  using Events = std::vector<SpooledEvent>;

  Outbox(std::unique_ptr<Spool> spool, EventSink& sink, const Clock& clock, Random& random);

  void enqueue(std::string event_json) REQUIRES(mutex_);
  void report_lost() REQUIRES(mutex_);
  void settle_unsaved() EXCLUDES(mutex_);
  std::uint64_t undelivered() const REQUIRES(mutex_);
  bool given_up() const REQUIRES(mutex_);
  bool finished() const REQUIRES(mutex_);

  // For the keeper's thread.
  void keep() EXCLUDES(mutex_);
  std::vector<std::string> take_queue() REQUIRES(mutex_);
  void keep_on_disk(std::vector<std::string> events) EXCLUDES(mutex_);
  void sync_while_away() EXCLUDES(mutex_);

  // For the poster's thread.
  void post() EXCLUDES(mutex_);
  bool wait_for_work() EXCLUDES(mutex_);
  void deliver() EXCLUDES(mutex_);
  void deliver_deltas() EXCLUDES(mutex_);
  void accepted(const Events& events) EXCLUDES(mutex_);
  // Handles an error for the events it is about; the settle functions return true if they have handled it.
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

  // Owned by the poster.
  std::size_t batch_events_ = kPostLines;
  std::chrono::milliseconds pause_ = kReconnectFirst;
  std::uint64_t last_resync_ = 0;  // the number that the server last requested again; twice in a row is no progress

  mutable Mutex mutex_;
  CondVar queued_;   // for the keeper
  CondVar work_;     // for the poster
  CondVar changed_;  // for drain
  std::deque<std::string> queue_ GUARDED_BY(mutex_);
  std::size_t keeping_ GUARDED_BY(mutex_) = 0;      // taken from the queue, not yet in the spool
  std::size_t queue_bytes_ GUARDED_BY(mutex_) = 0;  // of both
  bool unsynced_ GUARDED_BY(mutex_) = false;        // the spool may have more than the disk
  std::deque<std::string> deltas_ GUARDED_BY(mutex_);
  std::size_t delta_bytes_ GUARDED_BY(mutex_) = 0;
  std::int64_t last_sync_ms_ GUARDED_BY(mutex_) = 0;
  std::uint64_t lost_unreported_ GUARDED_BY(mutex_) = 0;
  std::string end_ GUARDED_BY(mutex_);       // the task's last event; empty before that
  bool posting_ GUARDED_BY(mutex_) = false;  // the poster has events in flight
  bool disk_refuses_ GUARDED_BY(mutex_) = false;
  std::int64_t retry_at_ms_ GUARDED_BY(mutex_) = 0;
  bool sealed_ GUARDED_BY(mutex_) = false;
  bool stopping_ GUARDED_BY(mutex_) = false;
  OutboxStatus status_ GUARDED_BY(mutex_);

  std::thread keeper_, poster_;
};

}  // namespace shepherd
