#include "bench/scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace shepherd::bench {

double Bench::seconds(double usual) const {
  if (options.seconds > 0) return options.seconds;
  return options.quick ? usual / 4 : usual;
}

std::filesystem::path Bench::new_directory(const std::string& name) {
  return scratch.make(fmt::format("{:02}-{}", ++directories, name));
}

Result<ShepherdServer> Bench::start_server(bool tls, int core) {
  return ShepherdServer::start({.program = options.server.empty() ? "/proc/self/exe" : options.server,
                                .arguments = options.server_args,
                                .directory = new_directory("shepherd"),
                                .tls = tls,
                                .core = core});
}

Result<LoadResult> run_shape(Target& target, const Shape& shape, double warmup_seconds, double seconds) {
  Result<LoadPlan> plan = target.plan(shape);
  if (!plan) return fail(plan.error());
  plan->warmup_seconds = warmup_seconds;
  plan->seconds = seconds;
  return run_load(std::move(*plan));
}

LoadResult median_run(std::vector<LoadResult> runs, double LoadResult::* rate) {
  Defects defects;
  std::uint64_t foreign = 0, lost = 0;
  for (const LoadResult& run : runs) {
    defects += run.defects;
    foreign += run.foreign;
    lost += run.lost_connections;
  }
  std::sort(runs.begin(), runs.end(), [&](const LoadResult& a, const LoadResult& b) { return a.*rate < b.*rate; });
  LoadResult middle = std::move(runs[runs.size() / 2]);
  middle.defects = defects;
  middle.foreign = foreign;
  middle.lost_connections = lost;
  return middle;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

Row load_row(std::string id, std::string title, const LoadResult& result, double LoadResult::* rate) {
  Row row{.id = std::move(id), .title = std::move(title), .value = result.*rate};
  row.set_latency(result.latency.count() > 0 ? result.latency : result.answer_latency);
  row.server_cpu = result.server_cpu;
  row.defects = result.defects;
  row.clean = result.clean();
  if (row.value > 0) row.server_us = result.server_cpu * 1e6 / row.value;
  row.more = {{"answeredPerSecond", result.answered_per_second},
              {"toolCpu", result.tool_cpu},
              {"eventsPerRead", result.events_per_read},
              {"answerP50Ms", static_cast<double>(result.answer_latency.quantile_ns(0.5)) / 1e6},
              {"answerP99Ms", static_cast<double>(result.answer_latency.quantile_ns(0.99)) / 1e6},
              {"serverRssBytes", static_cast<double>(result.server_rss_bytes)}};
  return row;
}

}  // namespace shepherd::bench
