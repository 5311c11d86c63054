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

constexpr int kDeadlineExceeded = 4;
constexpr int kPermissionDenied = 7;
constexpr int kUnimplemented = 12;
constexpr int kUnauthenticated = 16;

}  // namespace

std::string_view grpc_status_name(int code) {
  auto index = static_cast<std::size_t>(code);
  return index < kNames.size() ? kNames[index] : kNames[2];
}

std::string grpc_status_text(int code, std::string_view message) {
  std::string said(grpc_status_name(code));
  if (!message.empty()) said.append(": ").append(message);
  return said;
}

StreamFault stream_fault(int code, std::string_view message, bool answered) {
  std::string said = grpc_status_text(code, message);
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
  if (code == kGrpcInvalidArgument && !answered) {
    return {"start_refused", "the agent refused the task (" + said + ")"};
  }
  if (code == kDeadlineExceeded) return {"deadline_exceeded", "the agent's time is over (" + said + ")"};
  return {"stream_broken", "the agent's stream broke off (" + said + ")"};
}

StreamFault dialect_fault(GrpcDialect dialect, int code, std::string_view message, std::string_view refused) {
  std::string said = std::string(name(dialect)) + ": " + grpc_status_text(code, message);
  if (refused.empty()) {
    return {"start_refused", "the agent took no task in the only dialect that the configuration allows (" + said +
                                 "); remove \"dialect\" from this agent, and both are tried"};
  }
  return {"start_refused", "the agent took the task in neither dialect (" + std::string(refused) + "; " + said +
                               "); check it with \"shepherd agent test --stream ADDRESS\""};
}

}  // namespace shepherd
