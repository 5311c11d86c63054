#include <fmt/format.h>

#include "harness/trial.h"

namespace shepherd::harness {
namespace pb = gibson::agent;

// Whether cancelled work goes on cannot be seen in the stream, which is gone. It can be seen in a process that is then
// asked to end: with nothing to wait for it ends soon.
void cancelled(Trial& trial) {
  {
    AgentStream stream(*trial.channel, "cancelled");
    if (!trial.begin(stream)) return;
    stream.cancel();
    stream.wait_for_end(trial.options.answer);
    trial.look(stream);
  }
  if (!trial.command) {
    AgentStream stream(*trial.channel, "a stream after a cancelled one");
    if (!trial.begin(stream)) return;
    return trial.report.pass("cancel");
  }
  if (trial.report.has("shutdown", "does_not_end")) {
    return trial.report.skip("cancel", "the agent does not end on SIGTERM, so nothing can be seen");
  }
  trial.channel.reset();  // an idle connection of ours answers no pings, and a server may wait for that
  trial.command->terminate();
  if (trial.command->wait_for_exit(std::min(kAgentEndsWait, trial.options.answer))) {
    trial.report.pass("cancel");
  } else {
    trial.report.fail("cancel", "works_on_after_cancel",
                      "a stream was cancelled, then the agent got SIGTERM: it did not end in time, the work goes on");
  }
}

void shut_down(Trial& trial) {
  if (!trial.command) {
    return trial.report.skip("shutdown", "needs a command to start: shepherd agent test -- COMMAND {address}");
  }
  Transcript transcript;
  {
    AgentStream stream(*trial.channel, "shutdown");
    if (!trial.begin(stream)) return;
    trial.command->terminate();
    stream.wait_for_end(trial.options.answer);
    transcript = stream.transcript();
  }
  trial.channel.reset();
  bool told = false;
  for (const SeenMessage& seen : transcript.seen) {
    if (!seen.message.has_status()) continue;
    pb::AgentStatus status = seen.message.status().status();
    told = status == pb::AGENT_STATUS_INTERRUPTED || is_terminal(status);
  }
  if (!told && transcript.end) {
    trial.report.fail("shutdown", "no_status_at_shutdown",
                      fmt::format("the stream ended with {} after SIGTERM, without INTERRUPTED",
                                  grpc_code_word(transcript.end->code)));
  }
  if (!trial.command->wait_for_exit(std::min(kAgentEndsWait, trial.options.answer))) {
    trial.report.fail("shutdown", "does_not_end", "the agent did not end in time after SIGTERM");
  }
  trial.report.pass("shutdown");
  check_rules(transcript, trial.report);
}

}  // namespace shepherd::harness
