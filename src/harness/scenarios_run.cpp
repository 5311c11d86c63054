#include <fmt/format.h>

#include <utility>

#include "harness/limits.h"
#include "harness/trial.h"

namespace shepherd::harness {
namespace pb = gibson::agent;
namespace {

void note_what_was_not_shown(Report& report) {
  constexpr std::pair<const char*, const char*> kOptional[] = {
      {"output", "the run had no output"},          {"reasoning", "no output was marked as reasoning"},
      {"tool_calls", "the run called no tool"},     {"findings", "the run had no finding"},
      {"errors", "the run had no non-fatal error"},
  };
  for (const auto& [check, note] : kOptional) report.not_shown(check, note);
}

// The number of steering messages without an acknowledgement. Acknowledgements of unknown ids count, because they may
// be meant for them.
std::size_t missing_acks(const Transcript& transcript) {
  std::size_t acks = 0;
  for (const SeenMessage& seen : transcript.seen) acks += seen.message.has_steering_ack() ? 1 : 0;
  return transcript.steering.size() > acks ? transcript.steering.size() - acks : 0;
}

}  // namespace

void whole_run(Trial& trial) {
  AgentStream stream(*trial.channel, "a whole run");
  if (!trial.begin(stream)) return;
  trial.run_to_end(stream);
  note_what_was_not_shown(trial.report);
}

void steering(Trial& trial) {
  AgentStream stream(*trial.channel, "steering");
  if (!trial.begin(stream)) return;
  stream.steer("steer-1", "look at the second item first");
  stream.steer("steer-2", "and be brief");
  std::size_t acks = 0;
  auto both = [&acks](const pb::AgentMessage& message) { return message.has_steering_ack() && ++acks == 2; };
  AgentStream::Wait wait = stream.wait_for(both, trial.options.answer);
  Transcript& transcript = stream.transcript();
  std::size_t missing = missing_acks(transcript);
  if (missing == 0) {
    trial.report.pass("steering");
  } else if (wait == AgentStream::Wait::ended && transcript.seen.back().at_ms < kAgentTooQuick.count()) {
    trial.report.not_shown("steering", "the run was over before it could be steered");
  } else {
    trial.report.fail(
        "steering", "no_ack",
        fmt::format("{} of {} steering messages have no acknowledgement {}", missing, transcript.steering.size(),
                    wait == AgentStream::Wait::ended ? "at the end of the run" : "in time"));
  }
  trial.run_to_end(stream);
}

void probes(Trial& trial) {
  if (health_is_serving(*trial.channel, trial.options.answer)) {
    trial.report.pass("health");
  } else {
    trial.report.not_shown("health", "grpc.health.v1 is not offered, or does not say SERVING");
  }
  if (reflection_lists_service(*trial.channel, trial.options.answer)) {
    trial.report.pass("reflection");
  } else {
    trial.report.not_shown("reflection", "gRPC reflection is not offered, or does not list gibson.agent.AgentService");
  }
}

}  // namespace shepherd::harness
