// The events of one task on their way to the server.
//
// add() gives an event to a thread that writes it to a spool file; another thread posts what is in the file, in
// batches, as a strict producer whose id lives in the file. So the agent never waits for the server, a dead server
// fills the disk and not the memory, and a runner that is killed leaves everything it was given, but for the last
// milliseconds, to whoever delivers the spool next. When the disk is full, events are posted from memory; when the
// server is away as well, what no longer fits is lost, and the log says how much, before the task's end.
//
// What the server answers:
//   accepted                      the spool notes the number
//   away, busy, 5xx               again, with growing pauses
//   400, 413, 403 reserved_type   that event becomes a `log` event under its number that says what was refused and why
//   409 expectedSequence          goes on from there; from a number that is no longer in the spool only under a new id
//   409 sequence_reused           the same: the machine lost the end of a spool that the server had already seen
//   410                           the task has ended: nothing more can be delivered, state `ended`
//   404 unknown_task              the task was deleted: nobody can ever take these events, state `orphaned`
//   409 lease_lost                another runner has the task: these events are no part of its log, state `superseded`
//   401, 403, other               state `refused` with the error; again, because somebody may put it right
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "outbox/event_sink.h"
#include "outbox/limits.h"

namespace shepherd {

enum class OutboxState {
  delivering,
  waiting,     // the server is away
  refused,     // the server does not want this producer; somebody has to do something
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
  std::int64_t lease = 0;   // what the sink posts under, noted for whoever delivers the spool; 0: none
  std::size_t spool_bytes = kSpoolBytes;
};

struct Drained {
  bool everything = false;  // the server has all of it, and the spool is removed
  std::string spool_path;   // where the rest is; Spool::pending() will find it
  OutboxStatus status;
};

// Threads: any. `sink` and `random` are used by its own thread only; with `clock` they must outlive it.
class Outbox {
 public:
  // A new producer. Errors are those of Spool::create().
  static Result<std::unique_ptr<Outbox>> create(const OutboxOptions& options, EventSink& sink, const Clock& clock,
                                                Random& random);
  // Goes on with a spool that was left behind. Errors are those of Spool::open().
  static Result<std::unique_ptr<Outbox>> resume(const std::string& spool_path, EventSink& sink, const Clock& clock,
                                                Random& random);
  // Writes to the spool what it was given. A post that is under way is waited for (kClientTimeout at most).
  ~Outbox();
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  // An event as JSON, redacted, with its own timestamp and without `sequence`. Never waits, never fails.
  void add(std::string event_json);
  // The task's end, its last event: there is always room for it. Before it stands what was lost.
  void add_end(std::string event_json);
  // Live text as JSON, {"block":…,"text":…}. Dropped first.
  void add_delta(std::string delta_json);

  OutboxStatus status() const;
  std::string spool_path() const;

  // Takes no more events and tries until the server has all of them, nobody can have them, or the time is over. What is
  // only in memory then is lost, but for the end.
  Drained drain(std::chrono::milliseconds deadline);

 private:
  class Delivery;
  explicit Outbox(std::unique_ptr<Delivery> delivery);
  std::unique_ptr<Delivery> delivery_;
};

}  // namespace shepherd
