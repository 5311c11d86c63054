#include "driver/grpc/status.h"

#include <array>
#include <cstddef>

namespace shepherd {
namespace {

constexpr std::array<std::string_view, 17> kNames{
    "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
    "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
    "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
    "DATA_LOSS", "UNAUTHENTICATED"};

constexpr int kInvalidArgument = 3;
constexpr int kDeadlineExceeded = 4;
constexpr int kPermissionDenied = 7;
constexpr int kUnimplemented = 12;
constexpr int kUnauthenticated = 16;

}  // namespace

std::string_view grpc_status_name(int code) {
  auto index = static_cast<std::size_t>(code);
  return index < kNames.size() ? kNames[index] : kNames[2];
}

StreamFault stream_fault(int code, std::string_view message, bool answered) {
  std::string said(grpc_status_name(code));
  if (!message.empty()) said.append(": ").append(message);
  if (code == kGrpcUnavailable && !answered) {
    return {"agent_unreachable",
            "the agent cannot be reached (" + said + "); is it running, and is the address right?"};
  }
  if (code == kUnauthenticated || code == kPermissionDenied) {
    return {"credentials_refused", "the agent does not accept our credentials (" + said +
                                       "); look at token_file, metadata and tls of this agent in the configuration"};
  }
  if (code == kUnimplemented && !answered) {
    return {"not_a_streaming_agent", "no program at this address serves gibson.agent.AgentService/StreamExecute (" +
                                         said + "); check an agent with \"shepherd agent test --stream ADDRESS\""};
  }
  if (code == kInvalidArgument && !answered) {
    return {"start_refused", "the agent refused the task (" + said + ")"};
  }
  if (code == kDeadlineExceeded) return {"deadline_exceeded", "the agent's time is over (" + said + ")"};
  return {"stream_broken", "the agent's stream broke off (" + said + ")"};
}

}  // namespace shepherd
