// The bounds of config, with their reasons. Threads: value.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/limits.h"

namespace shepherd {

inline constexpr std::int64_t kMaxLeaseSeconds = 3'600;
inline constexpr std::int64_t kRunners = 2;           // default for `serve`
inline constexpr std::int64_t kMaxRunners = 256;      // in one process, with five threads each
inline constexpr std::size_t kMaxAgentMetadata = 32;  // entries sent with a call
// Below kMaxClaimAgents, because runners also claim built-in ones.
inline constexpr std::size_t kMaxConfiguredAgents = 60;
inline constexpr std::size_t kMaxPrices = 1'000;          // more models than all vendors together offer
inline constexpr std::size_t kMaxMcpServers = 60;         // each is a program, or a stream that stays open
inline constexpr std::size_t kMaxConfigBytes = 1 * kMiB;  // people write this file by hand

}  // namespace shepherd
