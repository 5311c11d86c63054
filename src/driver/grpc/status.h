// The status with which a gRPC call ends, in words.
// Threads: value.
#pragma once

#include <string>
#include <string_view>

#include "driver/grpc/dialect.h"

namespace shepherd {

inline constexpr int kGrpcOk = 0;
inline constexpr int kGrpcCancelled = 1;
inline constexpr int kGrpcUnknown = 2;
inline constexpr int kGrpcInvalidArgument = 3;
inline constexpr int kGrpcInternal = 13;
inline constexpr int kGrpcUnavailable = 14;

std::string_view grpc_status_name(int code);  // "UNAVAILABLE"; "UNKNOWN" for what gRPC has no name for

// The name and what the agent said: "INTERNAL: no such message".
std::string grpc_status_text(int code, std::string_view message);

// What a call that did not end well means to the operator who started the agent, and what they can do about it.
struct StreamFault {
  std::string_view code;  // of the error event
  std::string text;
};
// `answered`: the agent had sent something before.
StreamFault stream_fault(int code, std::string_view message, bool answered);
// The same for an agent that read the task in no dialect that was tried. `refused`: what it said to the other one,
// "json: INTERNAL: …"; empty: `dialect` was the only one, because the configuration says so.
StreamFault dialect_fault(GrpcDialect dialect, int code, std::string_view message, std::string_view refused);

}  // namespace shepherd
