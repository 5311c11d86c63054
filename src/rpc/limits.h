// The bounds of rpc, with their reasons. Threads: value.
#pragma once

#include <chrono>
#include <cstddef>

namespace shepherd {

// --- gRPC ---
inline constexpr std::size_t kMaxRpcStreams = 10'000;         // open at a time
inline constexpr int kMaxRpcRequestBytes = 1024 * 1024;       // a request names tasks, no more
inline constexpr std::chrono::milliseconds kRpcDrain{5'000};  // calls may still finish when the server ends

}  // namespace shepherd
