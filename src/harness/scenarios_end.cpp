#include <fmt/format.h>

#include <optional>

#include "harness/limits.h"
#include "harness/trial.h"

namespace shepherd::harness {
namespace pb = gibson::agent;

// A cancelled stream cannot show whether its work continues. The process can: after SIGTERM it ends soon if no work is
// left.
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
  trial.channel.reset();  // an idle connection answers no pings, and a server may wait for them
  trial.command->terminate();
  if (trial.command->wait_for_exit(std::min(kAgentEndsWait, trial.options.answer))) {
    trial.report.pass("cancel");
  } else {
    trial.report.fail("cancel", "works_on_after_cancel",
                      "a stream was cancelled, then the agent got SIGTERM: it did not end in time, the work goes on");
  }
}

namespace {

constexpr int kShutdownLooks = 3;

struct Shutdown {
  Transcript transcript;
  bool told = false;  // an INTERRUPTED or terminal status was received
};

// nullopt if no run could be started; begin() has recorded why.
std::optional<Shutdown> look_at_shutdown(Trial& trial) {
  Shutdown seen;
  {
    AgentStream stream(*trial.channel, "shutdown");
    if (!trial.begin(stream)) return std::nullopt;
    trial.command->terminate();
    stream.wait_for_end(trial.options.answer);
    seen.transcript = stream.transcript();
  }
  trial.channel.reset();
  for (const SeenMessage& each : seen.transcript.seen) {
    if (!each.message.has_status()) continue;
    pb::AgentStatus status = each.message.status().status();
    seen.told = status == pb::AGENT_STATUS_INTERRUPTED || is_terminal(status);
  }
  return seen;
}

}  // namespace

void shut_down(Trial& trial) {
  if (!trial.command) {
    return trial.report.skip("shutdown", "needs a command to start: shepherd agent test -- COMMAND {address}");
  }
  auto ends = [&trial] { return trial.command->wait_for_exit(std::min(kAgentEndsWait, trial.options.answer)); };
  std::optional<Shutdown> seen = look_at_shutdown(trial);
  // Tries again, because gRPC drops received messages if its own write fails: on a busy machine the connection of an
  // agent that ends right after its last message is gone before we have read it. An agent that sends no status fails
  // every time.
  for (int looks = 1; seen && !seen->told && is_broken(seen->transcript) && looks < kShutdownLooks && ends(); ++looks) {
    if (!trial.connect(trial.address)) {
      trial.channel.reset();  // the next scenario tries again and reports the failure
      return trial.report.skip("shutdown", "the agent did not start again");
    }
    seen = look_at_shutdown(trial);
  }
  if (!seen) return;
  const Transcript& transcript = seen->transcript;
  if (!seen->told && transcript.end) {
    trial.report.fail("shutdown", "no_status_at_shutdown",
                      fmt::format("the stream ended with {} after SIGTERM, without INTERRUPTED ({})",
                                  grpc_code_word(transcript.end->code), transcript.end->text));
  }
  if (!ends()) trial.report.fail("shutdown", "does_not_end", "the agent did not end in time after SIGTERM");
  trial.report.pass("shutdown");
  check_rules(transcript, trial.report);
}

}  // namespace shepherd::harness
