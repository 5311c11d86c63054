// The events of one task on their way to the server.
//
// add() gives an event to a thread, the keeper, that writes it to a spool file. A second thread, the poster, posts what
// is in the file, in batches, as a strict producer whose id lives in the file. So the agent never waits for the server,
// and a dead server fills the disk and not the memory. A runner that is killed leaves all but the last milliseconds of
// its events to the next runner that delivers the spool. When the disk is full, the poster posts from memory. When the
// server is away as well, events that no longer fit are lost, and the log says how many before the task's end.
//
// What the server answers:
//   accepted                      the spool notes the number
//   away, busy, 5xx               again, with growing pauses
//   400, 413, 403 reserved_type   that event becomes a `log` event under its number that says what was refused and why
//   409 expectedSequence          goes on from there; from a number that is no longer in the spool only under a new id
//   409 sequence_reused           the same: the machine lost the end of a spool that the server had already seen
//   410                           the task has ended: nothing more can be delivered, state `ended`
//   404 unknown_task              the task was deleted: no server can ever take these events, state `orphaned`
//   409 lease_lost                another runner has the task: these events are no part of its log, state `superseded`
//   401, 403, other               state `refused` with the error; again, because an operator may fix the cause
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
#include "outbox/event_sink.h"
#include "outbox/limits.h"
#include "outbox/spool.h"

namespace shepherd {

enum class OutboxState {
  delivering,
  waiting,     // the server is away
  refused,     // the server refuses this producer until an operator acts
  ended,       // the task has ended
  orphaned,    // the server has no such task
  superseded,  // another runner has the task
};

struct OutboxStatus {
  OutboxState state = OutboxState::delivering;
  std::optional<Error> trouble;     // why it is not delivering
  std::uint64_t undelivered = 0;    // in the spool or on the way to it
  std::uint64_t delivered = 0;      // since it was opened
  std::uint64_t replaced = 0;       // by `log` events: refused, or no events at all
  std::uint64_t lost = 0;           // neither memory nor disk had room; the log says so
  std::uint64_t after_the_end = 0;  // came too late for a task that has ended
  std::uint64_t deltas_dropped = 0;
};

struct OutboxOptions {
  std::string spool_directory;
  std::string task;
  std::string destination;  // noted in the spool, for people
  std::int64_t lease = 0;   // what the sink posts under, noted for the next runner; 0: none
  std::size_t spool_bytes = kSpoolBytes;
};

struct Drained {
  bool everything = false;  // the server has all of it, and the spool is removed
  std::string spool_path;   // where the rest is; Spool::pending() will find it
  OutboxStatus status;
};

// Threads: public functions any; the rest as said. Only the poster uses `sink` and `random`; these and `clock` must
// outlive the outbox.
class Outbox {
 public:
  // A new producer. Errors are those of Spool::create().
  static Result<std::unique_ptr<Outbox>> create(const OutboxOptions& options, EventSink& sink, const Clock& clock,
                                                Random& random);
  // Continues a spool that a dead runner left behind. Errors are those of Spool::open().
  static Result<std::unique_ptr<Outbox>> resume(const std::string& spool_path, EventSink& sink, const Clock& clock,
                                                Random& random);
  // Writes to the spool what it was given. Waits for a post that is under way (kClientTimeout at most).
  ~Outbox();
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  // An event as JSON, redacted, with its own timestamp and without `sequence`. Never waits, never fails.
  void add(std::string event_json) EXCLUDES(mutex_);
  // The task's end, its last event: there is always room for it. Before it stands what was lost.
  void add_end(std::string event_json) EXCLUDES(mutex_);
  // Live text as JSON, {"block":…,"text":…}. Dropped first.
  void add_delta(std::string delta_json) EXCLUDES(mutex_);

  OutboxStatus status() const EXCLUDES(mutex_);
  const std::string& spool_path() const { return spool_->path(); }

  // Takes no more events and tries until the server has all of them, no server can take them, or the time is over.
  // Events that are only in memory then are lost, except the end.
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
  // Acts on an error that a post of these events got. The settle functions return true when they have dealt with it.
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
  std::uint64_t last_resync_ = 0;  // the number the server last asked for again; twice in a row is not progress

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
  std::uint64_t lost_unreported_ GUARDED_BY(mutex_) = 0;
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
