// The cost of an idle consumer: the server's resident memory with 10,000 of them over 1,000 tasks, minus what it had
// before. The kernel's socket memory is not counted.
#include <fmt/format.h>

#include "bench/interrupt.h"
#include "bench/process_usage.h"
#include "bench/scenario.h"
#include "bench/steady_time.h"

namespace shepherd::bench {
namespace {

constexpr std::size_t kTasks = 1'000;
constexpr std::size_t kIdleConsumers = 10'000;
constexpr double kMostBytes = 2'048;
constexpr double kIdleConnectSeconds = 60;

Result<std::uint64_t> rss_with(ShepherdServer& server, const std::vector<std::string>& tasks, std::size_t consumers,
                               Transport transport, double hold_seconds) {
  Poller poller;
  Subscribers subscribers(server.subscribe(tasks, consumers, transport), poller);
  if (Result<void> connected = subscribers.connect(kIdleConnectSeconds); !connected) return fail(connected.error());
  std::uint64_t until = steady_ns() + seconds_as_ns(hold_seconds);
  while (steady_ns() < until) {
    if (Result<void> going = check_interrupt(); !going) return fail(going.error());
    for (const epoll_event& event : poller.wait(kNsPerSecond / 10)) subscribers.on_ready(event.data.u64, event.events);
  }
  if (subscribers.lost() > 0) return fail(ErrorCode::unavailable, "refused", "idle consumers were cut off");
  return rss_bytes(server.pid());
}

}  // namespace

Result<void> measure_idle(Bench& bench) {
  bench.report.heading(fmt::format("Memory: {} idle consumers over {} tasks", kIdleConsumers, kTasks));
  for (Transport transport : {Transport::websocket, Transport::sse}) {
    Result<ShepherdServer> server = bench.start_server();
    if (!server) return fail(server.error());
    Result<std::vector<std::string>> tasks = server->create_tasks(kTasks);
    if (!tasks) return fail(tasks.error());
    // Connects a few consumers first, so that the server's one-time allocations are not counted.
    Result<std::uint64_t> before = rss_with(*server, *tasks, 10, transport, 0.5);
    if (!before) return fail(before.error());
    Result<std::uint64_t> with = rss_with(*server, *tasks, kIdleConsumers, transport, bench.options.quick ? 0.5 : 3);
    if (!with) return fail(with.error());
    bool sse = transport == Transport::sse;
    double each = (static_cast<double>(*with) - static_cast<double>(*before)) / static_cast<double>(kIdleConsumers);
    Row row{.id = sse ? "idle.sse" : "idle.websocket",
            .title = sse ? "resident bytes a consumer, SSE" : "resident bytes a consumer, WebSocket",
            .value = each,
            .unit = Unit::bytes};
    row.more = {{"rssBeforeBytes", static_cast<double>(*before)}, {"rssWithBytes", static_cast<double>(*with)}};
    row.judgements.push_back(
        {.what = "memory", .value = each, .bound = kMostBytes, .at_least = false, .unit = Unit::bytes, .ratio = false});
    bench.report.add(std::move(row));
  }
  return {};
}

}  // namespace shepherd::bench
