// The bounds of hooks, with their reasons. Threads: value.
#pragma once

#include <cstddef>

#include "base/limits.h"

namespace shepherd {

inline constexpr std::size_t kMaxHookBytes = 8 * kMiB;     // one hook call of an agent; a larger one is shortened
inline constexpr std::size_t kHookBatchBytes = 1 * kMiB;   // waiting hook calls are sent in requests of this size
inline constexpr std::size_t kHookSpoolBytes = 64 * kMiB;  // hook calls that wait on disk for a server
inline constexpr std::size_t kMaxLostSessions = 100;       // sessions named when calls did not fit into the spool
inline constexpr std::size_t kMaxSidechains = 10'000;      // sub-agents' files beside one transcript
inline constexpr std::size_t kMaxMetaBytes = 64 * kKiB;    // description of a sub-agent beside its transcript

}  // namespace shepherd
