#include "harness/harness.h"

#include <fmt/format.h>

#include <algorithm>

#include <boost/json.hpp>
#include <thread>

#include "driver/grpc/connect_advice.h"
#include "driver/grpc/dialect.h"
#include "gibson/typed_agent.pb.h"
#include "harness/limits.h"
#include "harness/trial.h"

namespace shepherd::harness {
namespace pb = gibson::agent;
namespace {

using Steady = std::chrono::steady_clock;

struct Scenario {
  const char* title;
  void (*run)(Trial&);
};

constexpr Scenario kScenarios[] = {
    {"a whole run", whole_run},
    {"steering", steering},
    {"interrupt and resume", interrupt_and_resume},
    {"closing while interrupted", close_while_interrupted},
    {"mode switch", mode_switch},
    {"bad first message", bad_first_message},
    {"bad task", bad_task},
    {"health and reflection", probes},
    {"shutdown", shut_down},
    {"cancelling", cancelled},
};

constexpr int kPermissionDenied = 7, kUnimplemented = 12, kUnauthenticated = 16;  // gRPC status codes

std::string last_words(AgentCommand& command) {
  std::string tail = command.tail();
  return tail.empty() ? "" : "; it printed:\n" + tail;
}

// Called for a stream that ended before its first message. Returns an error if every stream would end this way.
std::optional<Error> refusal(const StreamEnd& end, const std::string& agent) {
  std::string said = grpc_code_word(end.code) + (end.text.empty() ? "" : ": " + end.text);
  if (end.code == kUnauthenticated || end.code == kPermissionDenied) {
    return Error{.code = ErrorCode::unauthenticated,
                 .reason = "credentials_refused",
                 .message = fmt::format("{} does not let us in ({}); give --token-file, or the certificate it asks for "
                                        "with --cert-file and --key-file",
                                        agent, said),
                 .fields = {}};
  }
  if (end.code == kUnimplemented) {
    return Error{.code = ErrorCode::unavailable,
                 .reason = "not_a_streaming_agent",
                 .message = fmt::format("{} does not serve gibson.agent.AgentService/StreamExecute ({})", agent, said),
                 .fields = {}};
  }
  return {};
}

// An agent of the other dialect cannot read the start.
std::string dialect_advice(const StreamEnd& end) {
  return may_be_unread(end.code) ? " (--dialect names the dialect to test, json or typed)" : "";
}

}  // namespace

Result<void> Trial::connect(const std::string& to) {
  address = to;
  channel.reset();
  command.reset();
  if (!options.command.empty()) {
    auto started = AgentCommand::start(options.command, address, options.warden_program);
    if (!started) return fail(started.error());
    command = *std::move(started);
  }
  AgentTarget target = options.target;
  target.address = address;
  auto deadline = Steady::now() + (command ? kAgentStartWait : options.answer);
  channel = open_channel(target);
  std::string why = "no response";
  ConnectAdvice advice;
  while (Steady::now() < deadline && !advice.is_final) {
    if (wait_until_ready(*channel, kAgentTooQuick)) return {};
    if (std::string told = why_not_ready(*channel); !told.empty()) why = std::move(told);
    advice = connect_advice(why, target.tls, !target.cert_pem.empty());
    if (command && !command->running()) {
      return fail(ErrorCode::unavailable, "agent_start",
                  fmt::format("the agent's command ended with {} before it listened on {}{}", command->exit_text(),
                              address, last_words(*command)));
    }
  }
  return fail(ErrorCode::unavailable, "agent_unreachable",
              fmt::format("no agent answers at {} ({}); {}{}", address, why,
                          advice.text.empty() ? "is it running, and are the address and TLS right?" : advice.text,
                          command ? last_words(*command) : ""));
}

void Trial::saw_end(const Transcript& transcript) {
  if (command && is_broken(transcript)) command->wait_for_exit(std::min(kAgentEndsWait, options.answer));
}

std::string Trial::start_message(pb::AgentMode mode) const {
  constexpr std::string_view kId = "conformance", kGoal = "Show how you work: this is a check of your implementation";
  constexpr std::string_view kFeatures[] = {"reasoning", "output", "tool", "finding", "error"};
  if (options.target.dialect == GrpcDialect::typed) {
    gibson::typed_agent::ClientMessage first;
    first.mutable_start()->set_initial_mode(static_cast<gibson::typed_agent::AgentMode>(mode));
    gibson::typed_agent::Task& task = *first.mutable_start()->mutable_task();
    task.set_id(std::string(kId));
    task.set_goal(std::string(kGoal));
    auto& list = *(*task.mutable_metadata())["conformance"].mutable_array_value();
    for (std::string_view feature : kFeatures) list.add_items()->set_string_value(std::string(feature));
    return first.SerializeAsString();
  }
  boost::json::array features(std::begin(kFeatures), std::end(kFeatures));
  pb::ClientMessage first;
  first.mutable_start()->set_initial_mode(mode);
  first.mutable_start()->set_task_json(boost::json::serialize(boost::json::object{
      {"id", kId}, {"goal", kGoal}, {"context", boost::json::object{}}, {"conformance", std::move(features)}}));
  return first.SerializeAsString();
}

bool Trial::begin(AgentStream& stream, pb::AgentMode mode) {
  stream.send_bytes(start_message(mode));
  AgentStream::Wait wait = stream.wait_for([](const pb::AgentMessage&) { return true; }, options.answer);
  const Transcript& transcript = stream.transcript();
  if (wait != AgentStream::Wait::found) {
    saw_end(transcript);
    silent = wait == AgentStream::Wait::timed_out;
    if (transcript.end && !refused) refused = refusal(*transcript.end, report.agent);
    report.fail("start", "no_answer_to_start",
                fmt::format("{}: {}", transcript.scenario,
                            wait == AgentStream::Wait::ended
                                ? fmt::format("the stream ended with {}: {}{}", grpc_code_word(transcript.end->code),
                                              transcript.end->text, dialect_advice(*transcript.end))
                                : "nothing in time"));
    return false;
  }
  const pb::AgentMessage& first = transcript.seen.front().message;
  if (first.has_status() && first.status().status() == pb::AGENT_STATUS_RUNNING) {
    report.pass("start");
  } else {
    report.fail(
        "start", "first_is_not_running",
        fmt::format("{}: the first message is {}, expected status RUNNING", transcript.scenario, kind_of(first)));
  }
  return true;
}

bool Trial::runs_do_not_end() const {
  return report.has("completion", "never_ends") || report.has("waiting", "waits_in_autonomous_mode");
}

// Half-closes the stream after the agent's terminal status, as Shepherd does, because some agents wait for that.
bool Trial::wait_for_own_end(AgentStream& stream) {
  auto is_last_word = [](const pb::AgentMessage& message) {
    return message.has_status() && is_terminal(message.status().status());
  };
  AgentStream::Wait wait = AgentStream::Wait::ended;
  // The status may have arrived during an earlier wait.
  bool said = std::ranges::any_of(stream.transcript().seen,
                                  [&](const SeenMessage& seen) { return is_last_word(seen.message); });
  if (!said) wait = stream.wait_for(is_last_word, end_wait());
  if (!said && wait == AgentStream::Wait::timed_out) return false;
  if (said || wait == AgentStream::Wait::found) stream.half_close();
  return stream.wait_for_end(options.answer);
}

void Trial::run_to_end(AgentStream& stream) {
  bool known = runs_do_not_end();
  stream.transcript().is_whole = !known;
  if (!wait_for_own_end(stream) && !known) {
    const pb::AgentMessage& last = stream.transcript().seen.back().message;
    bool waits = last.has_status() && last.status().status() == pb::AGENT_STATUS_WAITING_FOR_INPUT;
    report.fail(waits ? "waiting" : "completion", waits ? "waits_in_autonomous_mode" : "never_ends",
                fmt::format("{}: the run has not ended in time; its last message is {}", stream.transcript().scenario,
                            kind_of(last)));
  }
  look(stream);
}

Result<Report> test_agent(const HarnessOptions& options) {
  Steady::time_point begun = Steady::now();
  Report report;
  std::string address = options.target.address;
  if (address.empty()) {
    auto found = free_loopback_address();
    if (!found) return fail(found.error());
    address = *found;
  }
  report.agent = readable(options.command.empty() ? address : fmt::format("{}", fmt::join(options.command, " ")));
  Trial trial{.options = options, .report = report};
  if (auto connected = trial.connect(address); !connected) return fail(connected.error());
  for (const Scenario& scenario : kScenarios) {
    if (options.progress) options.progress(scenario.title);
    // The previous scenario ended the agent or its connection, deliberately or not.
    if (!trial.channel || (trial.command && !trial.command->running())) {
      if (auto again = trial.connect(address); !again) {
        report.fail("alive", "does_not_start_again", again.error().message);
        break;
      }
    }
    scenario.run(trial);
    if (trial.refused && scenario.run == whole_run) return fail(*trial.refused);
    if (trial.silent) break;
    bool is_ending = scenario.run == cancelled || scenario.run == shut_down;
    if (trial.command && !is_ending && !trial.command->running()) {
      report.fail("alive", "agent_ended",
                  fmt::format("the agent ended with {} during: {}{}", trial.command->exit_text(), scenario.title,
                              last_words(*trial.command)));
    }
  }
  if (trial.silent) report.skip_rest("not tried: a start was not answered");
  report.pass("alive");
  report.duration_ms = std::chrono::duration_cast<std::chrono::milliseconds>(Steady::now() - begun).count();
  return report;
}

}  // namespace shepherd::harness
