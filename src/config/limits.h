// The bounds of config, with their reasons. Threads: value.
#pragma once

#include <cstddef>
#include <cstdint>

namespace shepherd {

inline constexpr std::int64_t kMaxLeaseSeconds = 3'600;
inline constexpr std::int64_t kRunners = 2;              // of `serve`, unless it says
inline constexpr std::int64_t kMaxRunners = 256;         // in one process: five threads each
inline constexpr std::size_t kMaxAgentMetadata = 32;     // entries sent with a call
inline constexpr std::size_t kMaxConfiguredAgents = 60;  // below kMaxClaimAgents: runners claim built-in ones as well

}  // namespace shepherd
