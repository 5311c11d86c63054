// The bounds of rpc, with their reasons. Threads: value.
#pragma once

#include <chrono>
#include <cstddef>

namespace shepherd {

// --- gRPC ---
inline constexpr std::size_t kMaxRpcStreams = 10'000;         // concurrent streams
inline constexpr int kMaxRpcRequestBytes = 1024 * 1024;       // enough to name tasks
inline constexpr std::chrono::milliseconds kRpcTick{1'000};   // positions of filtered streams, revoked tokens
inline constexpr std::chrono::milliseconds kRpcDrain{5'000};  // time for active calls to finish at shutdown

}  // namespace shepherd
