#include "process/lost_warden.h"

#include <csignal>
#include <cstdint>

#include "base/log.h"
#include "process/tree_end.h"
#include "process/warden_init.h"

namespace shepherd {

// The init process of the agent's PID namespace waits until the agent is reaped, so the agent is reaped last.
AgentEnd end_orphans(const LaunchedAgent& launched, std::chrono::milliseconds wait, const Clock& clock) {
  TreeEnd orphans(TreeEnd::all_but(launched.first, orphans_of_wardens), clock);
  orphans.keep(launched.agent);
  std::int64_t deadline_ms = clock.steady_ms() + wait.count();
  orphans.kill(wait);  // no process outlives the runner
  if (launched.first != 0 && !end_first_process(launched.first, deadline_ms, clock)) {
    log_error("the first process {} of agent {} does not end", launched.first, launched.agent);
  }
  AgentEnd end;
  orphans.report(end);
  end.exit = orphans.kept_exit().value_or(AgentExit{0, SIGKILL});
  end.warden_lost = true;
  return end;
}

}  // namespace shepherd
