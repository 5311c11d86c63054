// A scenario answers one question about the server: it runs a few loads and reports rows.
#pragma once

#include <sched.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/bench.h"
#include "bench/cores.h"
#include "bench/launch.h"
#include "bench/load.h"
#include "bench/report.h"
#include "bench/shepherd_server.h"
#include "bench/target.h"

namespace shepherd::bench {

// The context of every scenario. Threads: caller.
struct Bench {
  const BenchOptions& options;
  Report& report;
  const ScratchDirectory& scratch;
  int directories = 0;

  int rounds() const { return options.quick ? 1 : 3; }  // for judged ratios
  // Measured seconds of one run.
  double seconds(double usual) const;
  double warmup() const { return options.quick ? 0.2 : 0.5; }
  std::filesystem::path new_directory(const std::string& name);
  Result<ShepherdServer> start_server(bool tls = false, int core = -1);
};

// Pins the tool to its core during its lifetime.
class PinnedTool {
 public:
  explicit PinnedTool(int core) {
    sched_getaffinity(0, sizeof before_, &before_);
    run_on_core(core);
  }
  ~PinnedTool() { sched_setaffinity(0, sizeof before_, &before_); }
  PinnedTool(const PinnedTool&) = delete;
  PinnedTool& operator=(const PinnedTool&) = delete;

 private:
  cpu_set_t before_{};
};

// Plans and runs one load of this shape.
Result<LoadResult> run_shape(Target& target, const Shape& shape, double warmup_seconds, double seconds);

// The run with the median rate, with the defects of all runs added up.
LoadResult median_run(std::vector<LoadResult> runs, double LoadResult::* rate);
double median(std::vector<double> values);

// The row of a load; `rate` selects its main figure.
Row load_row(std::string id, std::string title, const LoadResult& result, double LoadResult::* rate);

Result<void> measure_single_posts(Bench& bench);
Result<void> measure_batches(Bench& bench);
Result<void> measure_fanout(Bench& bench);
Result<void> measure_latency(Bench& bench);
Result<void> measure_idle(Bench& bench);
Result<void> measure_replay(Bench& bench);
Result<void> measure_beside(Bench& bench);
Result<void> measure_fleet(Bench& bench);
Result<void> measure_grpc(Bench& bench);
Result<void> measure_rows(Bench& bench);

}  // namespace shepherd::bench
