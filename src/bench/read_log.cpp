#include "bench/read_log.h"

#include <algorithm>
#include <utility>

#include "bench/interrupt.h"
#include "bench/steady_time.h"

namespace shepherd::bench {

Result<LogRead> read_log(SubscribePlan plan, const LoadResult& written, std::uint32_t first, double seconds) {
  plan.run = written.run;
  plan.streams = written.sent.front().size();
  plan.first_sequence = first;
  std::uint64_t expected = 0;
  for (std::size_t i = 0; i < plan.count; ++i) {
    for (std::uint32_t sent : written.sent[i % plan.targets.size()]) expected += sent - std::min(sent, first);
  }

  Poller poller;
  std::uint64_t start_ns = steady_ns();
  Subscribers subscribers(std::move(plan), poller);
  if (Result<void> connected = subscribers.connect(seconds); !connected) return fail(connected.error());
  std::uint64_t deadline = start_ns + seconds_as_ns(seconds);
  while (subscribers.received() < expected && subscribers.lost() == 0 && steady_ns() < deadline) {
    if (Result<void> going = check_interrupt(); !going) return fail(going.error());
    for (const epoll_event& event : poller.wait(kNsPerSecond / 10)) subscribers.on_ready(event.data.u64, event.events);
  }
  LogRead result;
  result.seconds =
      static_cast<double>(std::max(subscribers.newest_ns(), start_ns) - start_ns) / static_cast<double>(kNsPerSecond);
  result.events = subscribers.received();
  result.defects = subscribers.finish(written.sent);
  result.clean = result.defects.none() && subscribers.foreign() == 0 && subscribers.lost() == 0;
  return result;
}

}  // namespace shepherd::bench
