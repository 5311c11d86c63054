// Reads a gRPC stream as fast as it arrives.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace shepherd::bench {

struct GrpcStream {
  std::string address;  // "127.0.0.1:8082"
  std::string method;   // "/package.Service/Method"
  std::string request;  // the message's bytes
  std::vector<std::pair<std::string, std::string>> metadata;
};

struct GrpcRead {
  std::uint64_t messages = 0;
  double seconds = 0;  // from the call to its end
};

// `use` gets the bytes of every message and returns whether to continue; if not, the stream is cancelled.
// unavailable/stream_failed with the status if the stream ends with anything but OK.
// Threads: any. gRPC's own threads stay, so the process must not fork afterwards.
Result<GrpcRead> read_grpc_stream(const GrpcStream& stream, const std::function<bool(std::string_view)>& use);

}  // namespace shepherd::bench
