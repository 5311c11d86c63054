#include "harness/transcript.h"

#include <array>
#include <string_view>

namespace shepherd::harness {
namespace pb = gibson::agent;

bool is_terminal(pb::AgentStatus status) {
  return status == pb::AGENT_STATUS_COMPLETED || status == pb::AGENT_STATUS_FAILED;
}

bool is_work(const pb::AgentMessage& message) {
  return message.has_output() || message.has_tool_call() || message.has_tool_result() || message.has_finding();
}

std::string kind_of(const pb::AgentMessage& message) {
  switch (message.payload_case()) {
    case pb::AgentMessage::kOutput:
      return "output";
    case pb::AgentMessage::kToolCall:
      return "tool_call";
    case pb::AgentMessage::kToolResult:
      return "tool_result";
    case pb::AgentMessage::kFinding:
      return "finding";
    case pb::AgentMessage::kStatus:
      return "status " + status_word(message.status().status());
    case pb::AgentMessage::kSteeringAck:
      return "steering_ack";
    case pb::AgentMessage::kError:
      return message.error().fatal() ? "fatal error" : "non-fatal error";
    case pb::AgentMessage::PAYLOAD_NOT_SET:
      break;
  }
  return "a message without payload";
}

std::string status_word(pb::AgentStatus status) {
  constexpr std::string_view kPrefix = "AGENT_STATUS_";
  std::string name = pb::AgentStatus_Name(status);
  return name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : std::to_string(status);
}

std::string grpc_code_word(int code) {
  constexpr std::array<std::string_view, 17> kWords = {
      "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
      "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
      "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
      "DATA_LOSS", "UNAUTHENTICATED"};
  if (code < 0 || static_cast<std::size_t>(code) >= kWords.size()) return std::to_string(code);
  return std::string(kWords[static_cast<std::size_t>(code)]);
}

bool is_broken(const Transcript& transcript) {
  constexpr int kUnavailable = 14;  // gRPC status code
  return transcript.end && transcript.end->code == kUnavailable;
}

}  // namespace shepherd::harness
