// The load driver: subscribers and publishers on one thread, at full speed or at a rate, and what came of it.
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
  SubscribePlan subscribe;            // count 0: no subscribers; `streams` and `run` are set by run_load()
  PublishPlan publish;                // `run` and `paced` are set by run_load()
  const PublishWire* wire = nullptr;  // outlives the call
  std::size_t event_bytes = EventTexts::kDefaultBytes;
  double rate = 0;  // events a second in all; 0: full speed
  std::size_t window = 32;
  double warmup_seconds = 0.5;
  double seconds = 2;            // measured
  double drain_seconds = 10;     // how long late events are waited for
  std::uint64_t max_events = 0;  // ends when so many were sent and answered; 0: by time
  pid_t server = 0;              // its CPU time and memory are read; 0: not
};

struct LoadResult {
  double seconds = 0;  // measured
  double delivered_per_second = 0;
  double answered_per_second = 0;  // events, not requests
  double bytes_per_second = 0;     // at the subscribers
  double events_per_read = 0;      // how much was coalesced
  LatencyHistogram latency;        // publish to receipt
  LatencyHistogram answer_latency;
  Defects defects;                // over the whole run
  std::uint64_t sent_events = 0;  // over the whole run
  std::uint64_t received = 0;     // over the whole run, by all subscribers
  std::uint64_t foreign = 0, lost_connections = 0;
  double server_cpu = 0, tool_cpu = 0;           // cores in use while measured
  std::uint64_t server_rss_bytes = 0;            // at the end of the measured time
  std::vector<std::vector<std::uint32_t>> sent;  // [channel][stream], for reading the logs again
  std::uint16_t run = 0;

  bool clean() const { return defects.none() && foreign == 0 && lost_connections == 0; }
};

// Fails when a connection is refused or lost by a publisher, not on defects: those are the result.
// Threads: caller.
Result<LoadResult> run_load(LoadPlan plan);

}  // namespace shepherd::bench
