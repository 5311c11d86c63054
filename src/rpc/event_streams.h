// The open StreamEvents calls: counted, ticked, and ended together when the server stops.
#pragma once

#include <cstdint>
#include <set>

#include "base/clock.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "base/result.h"
#include "journal/journal.h"
#include "rpc/callers.h"

namespace shepherd {

class EventStream;

// Threads: any.
class EventStreams {
 public:
  EventStreams(Journal& journal, Callers& callers, const Clock& clock, MetricRegistry& metrics);

  // rate_limited/too_many_streams; unavailable/shutting_down.
  Result<void> add(EventStream& stream) EXCLUDES(mutex_);
  void remove(EventStream& stream) EXCLUDES(mutex_);
  // Ticks the streams, at most every kRpcTick, with one piece of work for each executor.
  void tick() EXCLUDES(mutex_);
  // Ends every stream with a status that asks the caller to return later, and waits until they are gone.
  void end_all() EXCLUDES(mutex_);

  Journal& journal() { return journal_; }
  Callers& callers() { return callers_; }
  const Clock& clock() { return clock_; }

 private:
  Journal& journal_;
  Callers& callers_;
  const Clock& clock_;
  Gauge& open_;
  Mutex mutex_;
  CondVar emptied_;
  bool ending_ GUARDED_BY(mutex_) = false;
  std::int64_t next_tick_ms_ GUARDED_BY(mutex_) = 0;
  std::set<EventStream*> streams_ GUARDED_BY(mutex_);
};

}  // namespace shepherd
