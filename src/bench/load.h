// The load driver: runs subscribers and publishers on one thread, at full speed or at a rate, and reports the result.
//
// At full speed at most window x subscribers deliveries are outstanding, so that the server saturates with a bounded
// backlog. At a rate an event's time stamp is the time it was due, so that waiting inside the tool counts as latency.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/result.h"
#include "bench/event_text.h"
#include "bench/histogram.h"
#include "bench/order_checker.h"
#include "bench/publishers.h"
#include "bench/subscribers.h"

namespace shepherd::bench {

struct LoadPlan {
  SubscribePlan subscribe;            // count 0: no subscribers; run_load() sets `streams` and `run`
  PublishPlan publish;                // run_load() sets `run` and `paced`
  const PublishWire* wire = nullptr;  // must outlive the call
  std::size_t event_bytes = EventTexts::kDefaultBytes;
  double rate = 0;  // events per second in total; 0: full speed
  std::size_t window = 32;
  double warmup_seconds = 0.5;
  double seconds = 2;            // measured time
  double drain_seconds = 10;     // maximum wait for late events
  std::uint64_t max_events = 0;  // ends after this number was sent and answered; 0: by time
  pid_t server = 0;              // process whose CPU time and memory are read; 0: none
};

struct LoadResult {
  double seconds = 0;  // measured time
  double delivered_per_second = 0;
  double answered_per_second = 0;  // events, not requests
  double bytes_per_second = 0;     // at the subscribers
  double events_per_read = 0;      // degree of coalescing
  LatencyHistogram latency;        // publish to receipt
  LatencyHistogram answer_latency;
  Defects defects;                // over the whole run
  std::uint64_t sent_events = 0;  // over the whole run
  std::uint64_t received = 0;     // over the whole run, by all subscribers
  std::uint64_t foreign = 0, lost_connections = 0;
  double server_cpu = 0, tool_cpu = 0;           // cores in use during the measurement
  std::uint64_t server_rss_bytes = 0;            // at the end of the measurement
  std::vector<std::vector<std::uint32_t>> sent;  // [channel][stream], for reading the logs again
  std::uint16_t run = 0;

  bool clean() const { return defects.none() && foreign == 0 && lost_connections == 0; }
};

// Fails if a connection is refused or a publisher loses one. Defects are no failure, because they are the result.
// Threads: caller.
Result<LoadResult> run_load(LoadPlan plan);

}  // namespace shepherd::bench
