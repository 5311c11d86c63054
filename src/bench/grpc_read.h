// Reading a gRPC stream as fast as it comes.
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

// `use` gets every message's bytes and says whether to go on; the stream is cancelled when not.
// unavailable/stream_failed with the status when it ends by itself and not with OK. Threads: any; gRPC's own threads
// stay, so nothing may fork after it.
Result<GrpcRead> read_grpc_stream(const GrpcStream& stream, const std::function<bool(std::string_view)>& use);

}  // namespace shepherd::bench
