// Runs many tasks of a file concurrently: a live line for each on a terminal, plain lines elsewhere, a table at the
// end.
#pragma once

#include <vector>

#include "cli/context.h"
#include "cli/detach.h"
#include "cli/end_signals.h"
#include "cli/local_runner.h"

namespace shepherd {

struct RunTasksOptions {
  int parallel = 1;
  bool json = false;
  const Detached* detached = nullptr;  // prints nothing; reports the first task to the parent
  bool link_shown = false;             // the caller has printed the link to the dashboard
  bool first_stops = false;            // for demo tasks, which need no interrupt: the first Ctrl-C stops them
};

// Blocks until all have ended. The first Ctrl-C interrupts the running tasks and starts no more, the second stops them,
// the third kills them; each time it prints what the next one does. The exit code is the worst one: failed, then timed
// out, then stopped.
// Threads: caller.
Result<ExitCode> run_tasks(Context& context, LocalRunner& runner, RunHost& host, const EndSignals& signals,
                           const std::vector<RunRequest>& tasks, const RunTasksOptions& options);

}  // namespace shepherd
