// The bounds of hub, with their reasons. Threads: value.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/limits.h"

namespace shepherd {

// --- feeds and hub ---
inline constexpr std::size_t kTailEvents = 1'000;                 // newest events of a task kept in memory
inline constexpr std::size_t kAllTailEvents = 16'384;             // newest events of all tasks kept in memory
inline constexpr std::size_t kTailBytes = 32 * kMiB;              // bytes of one tail
inline constexpr std::size_t kHubBytes = 256 * kMiB;              // all tails together
inline constexpr std::chrono::milliseconds kTailLinger{300'000};  // a tail without consumers is dropped after this
inline constexpr std::size_t kFeedsPerTurn = 64;  // feeds that an io thread serves before it polls its sockets again
// Live text that waits for a task's readers; the oldest is dropped first.
inline constexpr std::size_t kPendingDeltas = 4'096;
inline constexpr std::size_t kPendingDeltaBytes = 1 * kMiB;
inline constexpr std::uint64_t kDeltaEvents = 64;  // live text this many events ago has its finished event
inline constexpr std::size_t kFirstSegmentBytes =
    4 * kKiB;  // sizes double up to kSegmentBytes, so that a quiet task takes little memory

}  // namespace shepherd
