// Rules about messages that belong together: calls and results, acknowledgements, errors and the end.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <map>

#include "harness/rules.h"

namespace shepherd::harness {
namespace pb = gibson::agent;
namespace {

bool is_json(const std::string& text) {
  boost::system::error_code problem;
  boost::json::parse(text, problem);
  return !problem;
}

// Index of the first terminal status; the number of messages if there is none.
std::size_t terminal_index(const Transcript& transcript) {
  auto found = std::find_if(transcript.seen.begin(), transcript.seen.end(), [](const SeenMessage& seen) {
    return seen.message.has_status() && is_terminal(seen.message.status().status());
  });
  return static_cast<std::size_t>(found - transcript.seen.begin());
}

// The newest error before the index, or nullptr.
const pb::ErrorEvent* last_error(const Transcript& transcript, std::size_t index) {
  for (std::size_t i = index; i-- > 0;) {
    if (transcript.seen[i].message.has_error()) return &transcript.seen[i].message.error();
  }
  return nullptr;
}

void check_no_terminal(const Transcript& transcript, Report& report) {
  const pb::AgentMessage& last = transcript.seen.back().message;
  std::string end = fmt::format("{}: the stream ended with {} after {}", transcript.scenario,
                                grpc_code_word(transcript.end->code), kind_of(last));
  if (last.has_error() && !last.error().fatal()) {
    report.fail("errors", "nonfatal_error_ends_stream", end);
  } else if (last.has_error()) {  // FAILED may follow a fatal error, but need not
    report.fail("completion", "run_failed", end + " " + last.error().message());
  } else {
    report.fail("completion", "no_terminal_status", end + ", without COMPLETED or FAILED");
  }
}

void check_failed_run(const Transcript& transcript, std::size_t terminal, Report& report) {
  const pb::ErrorEvent* error = last_error(transcript, terminal);
  const pb::StatusChange& status = transcript.seen[terminal].message.status();
  if (error != nullptr && !error->fatal() && transcript.seen[terminal - 1].message.has_error()) {
    return report.fail(
        "errors", "nonfatal_error_ends_stream",
        fmt::format("{}: FAILED right after the non-fatal error {}", transcript.scenario, error->code()));
  }
  report.fail("completion", "run_failed",
              fmt::format("{}: the run ended with FAILED: {}", transcript.scenario, status.message()));
}

}  // namespace

void check_tools(const Transcript& transcript, Report& report) {
  std::map<std::string, bool> answered;  // by call id
  for (const SeenMessage& seen : transcript.seen) {
    if (seen.message.has_tool_call()) {
      const pb::ToolCallEvent& call = seen.message.tool_call();
      if (call.call_id().empty() || call.tool_name().empty()) {
        return report.fail("tool_calls", "tool_call_incomplete",
                           transcript.scenario + ": a tool call without a call_id or a tool_name");
      }
      if (!answered.emplace(call.call_id(), false).second) {
        return report.fail("tool_calls", "call_id_repeats",
                           fmt::format("{}: two calls have the id {}", transcript.scenario, call.call_id()));
      }
      if (!is_json(call.input_json())) {
        return report.fail("tool_calls", "tool_input_malformed",
                           fmt::format("{}: input_json of {} is not JSON", transcript.scenario, call.call_id()));
      }
    } else if (seen.message.has_tool_result()) {
      const pb::ToolResultEvent& result = seen.message.tool_result();
      auto call = answered.find(result.call_id());
      if (call == answered.end()) {
        return report.fail(
            "tool_calls", "result_without_call",
            fmt::format("{}: a result for {}, which was not called", transcript.scenario, result.call_id()));
      }
      if (std::exchange(call->second, true)) {
        return report.fail("tool_calls", "result_repeats",
                           fmt::format("{}: two results for {}", transcript.scenario, result.call_id()));
      }
      if (!is_json(result.output_json())) {
        return report.fail("tool_calls", "tool_output_malformed",
                           fmt::format("{}: output_json of {} is not JSON", transcript.scenario, result.call_id()));
      }
      report.pass("tool_calls");
    }
  }
  if (!transcript.is_whole || terminal_index(transcript) == transcript.seen.size()) return;
  for (const auto& [call_id, done] : answered) {
    if (!done) {
      return report.fail("tool_calls", "call_without_result",
                         fmt::format("{}: no result for {}", transcript.scenario, call_id));
    }
  }
}

void check_acks(const Transcript& transcript, Report& report) {
  std::map<std::string, int> acks;
  for (const std::string& id : transcript.steering) acks[id] = 0;
  for (const SeenMessage& seen : transcript.seen) {
    if (!seen.message.has_steering_ack()) continue;
    const std::string& id = seen.message.steering_ack().message_id();
    auto known = acks.find(id);
    if (known == acks.end()) {
      return report.fail("steering", "ack_of_unknown_message",
                         fmt::format("{}: \"{}\" is acknowledged, which was not sent", transcript.scenario, id));
    }
    if (++known->second > 1) {
      return report.fail("steering", "ack_repeats",
                         fmt::format("{}: \"{}\" is acknowledged twice", transcript.scenario, id));
    }
  }
}

void check_end(const Transcript& transcript, Report& report) {
  std::size_t terminal = terminal_index(transcript), count = transcript.seen.size();
  if (terminal + 1 < count) {
    return report.fail(
        "completion", "messages_after_end",
        fmt::format("{}: {} after {}", transcript.scenario, kind_of(transcript.seen[terminal + 1].message),
                    kind_of(transcript.seen[terminal].message)));
  }
  for (std::size_t i = 0; i + 1 < count; ++i) {
    const pb::AgentMessage& message = transcript.seen[i].message;
    const pb::AgentMessage& next = transcript.seen[i + 1].message;
    if (!message.has_error()) continue;
    if (!message.error().fatal() && !(next.has_status() && is_terminal(next.status().status()))) report.pass("errors");
    if (message.error().fatal() && !(next.has_status() && next.status().status() == pb::AGENT_STATUS_FAILED)) {
      return report.fail(
          "errors", "fatal_error_without_failed",
          fmt::format("{}: {} after a fatal error, expected FAILED", transcript.scenario, kind_of(next)));
    }
  }
  if (!transcript.is_whole || !transcript.end) return;
  if (terminal == count) return check_no_terminal(transcript, report);
  if (transcript.seen[terminal].message.status().status() == pb::AGENT_STATUS_FAILED) {
    return check_failed_run(transcript, terminal, report);
  }
  if (transcript.end->code != 0) {
    return report.fail("completion", "completed_with_error",
                       fmt::format("{}: COMPLETED, but the stream ended with {}: {}", transcript.scenario,
                                   grpc_code_word(transcript.end->code), transcript.end->text));
  }
  report.pass("completion");
}

}  // namespace shepherd::harness
