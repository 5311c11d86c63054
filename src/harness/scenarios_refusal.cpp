#include <fmt/format.h>

#include "harness/trial.h"

namespace shepherd::harness {
namespace pb = gibson::agent;
namespace {

constexpr int kInvalidArgument = 3;  // gRPC status code

// A task in JSON is no message of the typed dialect, so gRPC itself may refuse it, with a code of its own choice.
bool is_unread(const Trial& trial, std::string_view check, int code) {
  return trial.options.target.dialect == GrpcDialect::typed && check == "bad_task" && may_be_unread(code);
}

void expect_refusal(Trial& trial, AgentStream& stream, std::string_view check, std::string_view accepted,
                    std::string_view broken) {
  bool ended = stream.wait_for(is_work, trial.options.answer) == AgentStream::Wait::ended;
  const Transcript& transcript = stream.transcript();
  trial.saw_end(transcript);
  if (!ended || transcript.end->code == 0) {
    trial.report.fail(
        check, accepted,
        fmt::format("{}: {}", transcript.scenario, ended ? "the stream ended with OK" : "the stream was not refused"));
  } else if (is_broken(transcript)) {
    trial.report.fail(check, broken,
                      fmt::format("{}: the stream broke off with {} ({}) instead of being refused", transcript.scenario,
                                  grpc_code_word(transcript.end->code), transcript.end->text));
  } else if (transcript.end->code != kInvalidArgument && !is_unread(trial, check, transcript.end->code)) {
    // The protocol does not require this code, but it shows the caller whose fault it is.
    trial.report.not_shown(check,
                           fmt::format("{}: refused with {} ({}); INVALID_ARGUMENT would say why", transcript.scenario,
                                       grpc_code_word(transcript.end->code), transcript.end->text));
  } else {
    trial.report.pass(check);
  }
}

}  // namespace

void bad_first_message(Trial& trial) {
  constexpr const char* kCheck = "bad_first_message";
  {
    AgentStream stream(*trial.channel, "a steering message first");
    stream.steer("steer-first", "this is not a start");
    expect_refusal(trial, stream, kCheck, "accepts_bad_first_message", "bad_first_message_code");
  }
  AgentStream stream(*trial.channel, "an empty message first");
  stream.send(pb::ClientMessage());
  expect_refusal(trial, stream, kCheck, "accepts_bad_first_message", "bad_first_message_code");
}

void bad_task(Trial& trial) {
  AgentStream stream(*trial.channel, "a start with broken JSON");
  pb::ClientMessage broken;
  broken.mutable_start()->set_task_json("{\"id\": \"broken");
  stream.send(broken);
  expect_refusal(trial, stream, "bad_task", "accepts_bad_task", "bad_task_code");
}

}  // namespace shepherd::harness
