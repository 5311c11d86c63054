// Durable single POSTs: 64 producers, each with its own task and one event in flight. Compared with Redis streams with
// an append-only file synced for every write.
#include <optional>

#include "bench/read_log.h"
#include "bench/redis.h"
#include "bench/scenario.h"

namespace shepherd::bench {
namespace {

constexpr std::size_t kProducers = 64;
constexpr double kOfRedis = 0.7;
constexpr double kPostReadSeconds = 120;

// Loads fresh tasks and reads their logs again: every acknowledged event must be there.
Result<LoadResult> load_and_read(Bench& bench, ShepherdServer& server, const Shape& shape) {
  Result<std::vector<std::string>> tasks = server.create_tasks(shape.channels);
  if (!tasks) return fail(tasks.error());
  LoadPlan plan = server.plan_for(*tasks, shape);
  plan.warmup_seconds = bench.warmup();
  plan.seconds = bench.seconds(2);
  Result<LoadResult> result = run_load(std::move(plan));
  if (!result) return result;
  Result<LogRead> read =
      read_log(server.subscribe(*tasks, tasks->size(), Transport::websocket), *result, 0, kPostReadSeconds);
  if (!read) return fail(read.error());
  result->defects += read->defects;
  return result;
}

}  // namespace

Result<void> measure_single_posts(Bench& bench) {
  bench.report.heading("Durable single POSTs: 64 producers, 64 tasks, answered after the commit");
  Result<ShepherdServer> server = bench.start_server();
  if (!server) return fail(server.error());
  std::optional<Redis> redis;
  if (bench.options.peers) {
    Result<Redis> started = Redis::start(bench.new_directory("redis"), -1);
    if (started) {
      redis.emplace(std::move(*started));
    } else {
      bench.report.note("  without Redis: " + started.error().message);
    }
  }

  Shape shape{.channels = kProducers, .publishers = kProducers};
  std::vector<LoadResult> own, others;
  for (int round = 0; round < bench.rounds(); ++round) {
    Result<LoadResult> result = load_and_read(bench, *server, shape);
    if (!result) return fail(result.error());
    own.push_back(std::move(*result));
    if (!redis) continue;
    result = run_shape(*redis, shape, bench.warmup(), bench.seconds(2));
    if (!result) return fail(result.error());
    others.push_back(std::move(*result));
  }

  Row row = load_row("ingest.single", "Shepherd", median_run(std::move(own), &LoadResult::answered_per_second),
                     &LoadResult::answered_per_second);
  if (redis) {
    Row other =
        load_row("ingest.single.redis", "Redis stream, fsync always",
                 median_run(std::move(others), &LoadResult::answered_per_second), &LoadResult::answered_per_second);
    row.judgements.push_back({.what = "x Redis", .value = row.value / other.value, .bound = kOfRedis});
    bench.report.add(std::move(other));
  } else {
    row.note = "target: 0.7 x Redis, with --peers";
  }
  bench.report.add(std::move(row));
  return {};
}

}  // namespace shepherd::bench
