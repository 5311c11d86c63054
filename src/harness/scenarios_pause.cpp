#include <fmt/format.h>

#include "harness/limits.h"
#include "harness/trial.h"

namespace shepherd::harness {
namespace pb = gibson::agent;
namespace {

using Wait = AgentStream::Wait;

// True if the agent reported INTERRUPTED. Otherwise the report says why not.
bool interrupt(Trial& trial, AgentStream& stream, std::string_view dependent) {
  std::int64_t before = stream.transcript().seen.empty() ? 0 : stream.transcript().seen.back().at_ms;
  stream.interrupt("a check of the interrupt");
  Wait wait = stream.wait_for_status(pb::AGENT_STATUS_INTERRUPTED, trial.options.answer);
  if (wait == Wait::found) return true;
  trial.report.skip(dependent, "the agent did not say INTERRUPTED");
  const Transcript& transcript = stream.transcript();
  if (wait == Wait::ended && transcript.seen.back().at_ms - before < kAgentTooQuick.count()) {
    trial.report.not_shown("interrupt", "the run was over before it could be interrupted");
  } else {
    trial.report.fail("interrupt", "no_interrupted_status",
                      fmt::format("{}: {} after the interrupt, without INTERRUPTED", transcript.scenario,
                                  wait == Wait::ended ? "the run ended" : "nothing in time"));
  }
  return false;
}

}  // namespace

void interrupt_and_resume(Trial& trial) {
  AgentStream stream(*trial.channel, "interrupt and resume");
  if (!trial.begin(stream)) return;
  if (!interrupt(trial, stream, "resume")) return trial.run_to_end(stream);

  Wait quiet = stream.wait_for(is_work, kAgentQuiet);
  std::string work = quiet == Wait::found ? kind_of(stream.transcript().seen.back().message) : "";
  // An agent may finish its current step and end, as the protocol's own examples do.
  bool ended = quiet == Wait::ended || (quiet == Wait::found && stream.wait_for_end(kAgentQuiet));
  if (ended && is_broken(stream.transcript())) {
    trial.report.fail(
        "interrupt", "ends_when_interrupted",
        fmt::format("the stream broke off with {} after INTERRUPTED", grpc_code_word(stream.transcript().end->code)));
  } else if (ended) {
    trial.report.not_shown("interrupt",
                           fmt::format("the stream ended with {} after INTERRUPTED, instead of waiting for the resume",
                                       grpc_code_word(stream.transcript().end->code)));
  } else if (quiet == Wait::found) {
    trial.report.fail("interrupt", "works_while_interrupted", fmt::format("{} after INTERRUPTED", work));
  }
  if (ended) {
    trial.report.skip("resume", "the stream had ended");
    return trial.look(stream);
  }
  if (quiet != Wait::found) {
    trial.report.pass("interrupt");
  }

  stream.resume("go on, and be careful");
  auto goes_on = [](const pb::AgentMessage& message) {
    return is_work(message) || (message.has_status() && message.status().status() != pb::AGENT_STATUS_INTERRUPTED);
  };
  if (stream.wait_for(goes_on, trial.options.answer) != Wait::found) {
    trial.report.fail("resume", "does_not_resume", "nothing after the resume in time");
    return trial.look(stream);
  }
  const pb::AgentMessage& first = stream.transcript().seen.back().message;
  if (is_work(first) && quiet != Wait::found) {
    trial.report.fail("resume", "resume_without_running",
                      fmt::format("{} after the resume, before RUNNING", kind_of(first)));
  } else {
    trial.report.pass("resume");
  }
  trial.run_to_end(stream);
}

void close_while_interrupted(Trial& trial) {
  AgentStream stream(*trial.channel, "closed while interrupted");
  if (!trial.begin(stream)) return;
  if (!interrupt(trial, stream, "close")) return;
  stream.half_close();
  if (stream.wait_for_end(trial.options.answer)) {
    trial.report.pass("close");
  } else {
    trial.report.fail("close", "outlives_its_caller",
                      "the caller closed the stream while it was interrupted, and it did not end in time");
  }
  trial.look(stream);
}

void mode_switch(Trial& trial) {
  if (trial.report.has("waiting", "waits_in_autonomous_mode")) {
    return trial.report.skip("mode", "the agent waits in either mode");
  }
  AgentStream stream(*trial.channel, "mode switch");
  if (!trial.begin(stream)) return;
  stream.set_mode(pb::AGENT_MODE_INTERACTIVE);
  Wait wait = stream.wait_for_status(pb::AGENT_STATUS_WAITING_FOR_INPUT, trial.options.answer);
  if (wait == Wait::found) {
    stream.steer("answer-1", "yes, go on");
    auto leaves = [](const pb::AgentMessage& message) {
      return is_work(message) || (message.has_status() && message.status().status() == pb::AGENT_STATUS_RUNNING);
    };
    if (stream.wait_for(leaves, trial.options.answer) == Wait::found) {
      trial.report.pass("waiting");
    } else {
      trial.report.fail("waiting", "ignores_input", "WAITING_FOR_INPUT, and a steering message did not end it");
    }
    stream.set_mode(pb::AGENT_MODE_AUTONOMOUS);
  } else {
    trial.report.not_shown("waiting", "the agent did not wait for input in interactive mode");
    stream.set_mode(pb::AGENT_MODE_AUTONOMOUS);
  }
  bool ended = wait == Wait::ended || trial.wait_for_own_end(stream);
  if (ended && trial.agent_is_gone()) return trial.report.skip("mode", "the agent itself ended");
  const Transcript& transcript = stream.transcript();
  const pb::AgentMessage& last = transcript.seen.back().message;
  if (!ended && last.has_status() && last.status().status() == pb::AGENT_STATUS_WAITING_FOR_INPUT) {
    trial.report.fail("mode", "waits_in_autonomous_mode", "still WAITING_FOR_INPUT after a switch to autonomous mode");
  } else if (ended && !(last.has_status() && is_terminal(last.status().status())) && transcript.end->code != 0) {
    trial.report.fail("mode", "mode_ends_stream",
                      fmt::format("the stream ended with {} after a mode switch: {}",
                                  grpc_code_word(transcript.end->code), transcript.end->text));
  } else {
    trial.report.pass("mode");
  }
  trial.look(stream);
}

}  // namespace shepherd::harness
