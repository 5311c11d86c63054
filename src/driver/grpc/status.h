// The status with which a gRPC call ends, in words.
// Threads: value.
#pragma once

#include <string>
#include <string_view>

namespace shepherd {

inline constexpr int kGrpcOk = 0;
inline constexpr int kGrpcCancelled = 1;
inline constexpr int kGrpcUnavailable = 14;

std::string_view grpc_status_name(int code);  // "UNAVAILABLE"; "UNKNOWN" for what gRPC has no name for

// What a call that did not end well means to the operator who started the agent, and what they can do about it.
struct StreamFault {
  std::string_view code;  // of the error event
  std::string text;
};
// `answered`: the agent had sent something before.
StreamFault stream_fault(int code, std::string_view message, bool answered);

}  // namespace shepherd
