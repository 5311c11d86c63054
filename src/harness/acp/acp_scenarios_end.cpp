// The end: the client closes the agent's input.
#include <fmt/format.h>

#include "harness/acp/acp_trial.h"

namespace shepherd::harness {

void end_of_input(AcpTrial& trial) {
  trial.peer.watch(kAcpQuiet);  // what the agent has killed at the end of its last turn needs a moment to be gone
  trial.peer.close_input();
  bool exits = trial.peer.wait_for_exit(std::min(kAcpExitWait, trial.options.answer));
  AgentEnd end = trial.peer.end();
  if (!exits) {
    trial.report.fail("exit", "stays_after_end_of_input",
                      fmt::format("it had not exited {} s after the end of its input",
                                  std::chrono::duration<double>(std::min(kAcpExitWait, trial.options.answer)).count()));
    return trial.report.skip("survivors", "the agent itself had to be ended");
  }
  trial.report.pass("exit");
  std::size_t count = 0;
  std::string first;
  for (const EndedProcess& process : end.ended) {
    if (process.pid == trial.peer.pid() || process.how == "gone") continue;
    if (count++ == 0) first = fmt::format("{} ({})", process.command_line, process.how);
  }
  if (count > 0) {
    trial.report.fail("survivors", "leaves_processes",
                      fmt::format("{} of its processes were left when it had exited, first {}", count, first));
  } else {
    trial.report.pass("survivors");
  }
}

}  // namespace shepherd::harness
