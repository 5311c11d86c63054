// Latency of a busy but unsaturated server: 1,000 events per second over 100 tasks with 10 consumers each, from the
// time an event was due to the time a consumer has it, including the durable commit.
#include "bench/scenario.h"

namespace shepherd::bench {
namespace {

constexpr Shape kLatencyShape{.channels = 100, .subscribers = 1'000, .publishers = 100};
constexpr double kRate = 1'000;
constexpr double kMostP50Ms = 0.5, kMostP99Ms = 5;

}  // namespace

Result<void> measure_latency(Bench& bench) {
  bench.report.heading("Latency: 1,000 events a second, 100 tasks, 10 consumers each (POST due to receipt)");
  Result<ShepherdServer> server = bench.start_server();
  if (!server) return fail(server.error());
  LatencyHistogram all;
  std::vector<LoadResult> runs;
  for (int round = 0; round < bench.rounds(); ++round) {
    Result<LoadPlan> plan = server->plan(kLatencyShape);
    if (!plan) return fail(plan.error());
    plan->rate = kRate;
    plan->warmup_seconds = 1;
    plan->seconds = bench.seconds(5);
    Result<LoadResult> result = run_load(std::move(*plan));
    if (!result) return fail(result.error());
    all.add(result->latency);
    runs.push_back(std::move(*result));
  }
  LoadResult middle = median_run(std::move(runs), &LoadResult::delivered_per_second);
  Row row = load_row("latency", "deliveries, WebSocket", middle, &LoadResult::delivered_per_second);
  row.set_latency(all);
  row.judgements.push_back({.what = "p50",
                            .value = *row.p50_ms,
                            .bound = kMostP50Ms,
                            .at_least = false,
                            .unit = Unit::milliseconds,
                            .ratio = false});
  row.judgements.push_back({.what = "p99",
                            .value = *row.p99_ms,
                            .bound = kMostP99Ms,
                            .at_least = false,
                            .unit = Unit::milliseconds,
                            .ratio = false});
  bench.report.add(std::move(row));
  return {};
}

}  // namespace shepherd::bench
