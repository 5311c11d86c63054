#include "bench/bench.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <csignal>

#include "bench/interrupt.h"
#include "bench/scenario.h"
#include "bench/steady_time.h"

namespace shepherd::bench {
namespace {

constexpr rlim_t kOpenFiles = 65'536;

struct Scenario {
  std::string name;
  Result<void> (*measure)(Bench&);
};
const std::vector<Scenario> kScenarios{{"single-posts", measure_single_posts},
                                       {"batches", measure_batches},
                                       {"fanout", measure_fanout},
                                       {"latency", measure_latency},
                                       {"idle", measure_idle},
                                       {"replay", measure_replay},
                                       {"beside", measure_beside},
                                       {"fleet", measure_fleet},
                                       {"rows", measure_rows},
                                       {"grpc", measure_grpc}};

// Child processes inherit the limit, so the servers get it too.
void raise_open_files() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = std::min(limit.rlim_max, std::max(limit.rlim_cur, kOpenFiles));
  setrlimit(RLIMIT_NOFILE, &limit);
}

bool wanted(const BenchOptions& options, const std::string& name) {
  return options.only.empty() || std::find(options.only.begin(), options.only.end(), name) != options.only.end();
}

}  // namespace

const std::vector<std::string>& scenario_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    all.reserve(kScenarios.size());
    for (const Scenario& each : kScenarios) all.push_back(each.name);
    return all;
  }();
  return names;
}

int run_bench(const BenchOptions& options) {
  for (const std::string& name : options.only) {
    if (std::find(scenario_names().begin(), scenario_names().end(), name) == scenario_names().end()) {
      fmt::print(stderr, "shepherd: no scenario \"{}\"; there are: {}\n", name, fmt::join(scenario_names(), ", "));
      return 2;
    }
  }
  std::signal(SIGPIPE, SIG_IGN);
  raise_open_files();
  watch_for_interrupts();
  Result<ScratchDirectory> scratch = ScratchDirectory::create(options.directory);
  if (!scratch) {
    fmt::print(stderr, "shepherd: {}\n", scratch.error().message);
    return 1;
  }
  if (options.keep_data) scratch->keep();

  std::uint64_t start_ns = steady_ns();
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  Report report(!options.json);
  report.note(fmt::format("{}-byte events over loopback, {} cores{}{}", EventTexts::kDefaultBytes, cores,
                          options.quick ? ", quick" : ", medians of 3 rounds in turns",
                          options.keep_data ? ", data in " + scratch->path().string() : ""));
  Bench bench{.options = options, .report = report, .scratch = *scratch};
  for (const Scenario& scenario : kScenarios) {
    if (!wanted(options, scenario.name) || !check_interrupt()) continue;
    Result<void> measured = scenario.measure(bench);
    if (!measured) report.failure(scenario.name, measured.error().message);
  }
  double seconds = static_cast<double>(steady_ns() - start_ns) / static_cast<double>(kNsPerSecond);
  fmt::print("{}\n", report.json_line({{"cores", cores},
                                       {"quick", options.quick},
                                       {"peers", options.peers},
                                       {"eventBytes", EventTexts::kDefaultBytes},
                                       {"seconds", seconds}}));
  std::fflush(stdout);
  return report.clean() ? 0 : 1;
}

}  // namespace shepherd::bench
