// The limit of the library: the least work a grpc++ server (callback API, like Shepherd's) must do to stream messages.
// It answers any call with the request's own bytes, repeated as the metadata `count` says.
// Threads: caller.
#pragma once

#include <cstdint>

namespace shepherd::bench {

// Serves on that port of 127.0.0.1 until the process ends. The process must not have used gRPC before the fork.
void run_bare_grpc_server(std::uint16_t port);

}  // namespace shepherd::bench
