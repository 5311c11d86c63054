// The bounds of steering, with their reasons. Threads: value.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/limits.h"

namespace shepherd {

// --- steering ---
inline constexpr std::size_t kMaxCommandIdBytes = 56;              // "command:" and the id are the event's id
inline constexpr std::size_t kMaxParkedClaims = 10'000;            // claims that wait for a task at the same time
inline constexpr std::int64_t kLeaseSeconds = 30;                  // a runner that says nothing for this long is lost
inline constexpr std::chrono::milliseconds kMostLeaseStep{1'000};  // a longer pause between ticks is the server's own
inline constexpr std::int64_t kRunnerSeenSeconds = 60;           // after its last claim a runner is no longer connected
inline constexpr std::size_t kMaxSeenRunners = 10'000;           // that are remembered
inline constexpr std::size_t kMaxNamedAgents = 10;               // in one sentence about what runners take
inline constexpr std::chrono::milliseconds kRunnerCount{1'000};  // how often runners are counted, for metrics
inline constexpr std::uint64_t kMaxSilentClaims = 3;      // runners that take a task and are never heard of again
inline constexpr std::int64_t kTimeoutGraceSeconds = 60;  // for the runner to end a task that ran out of time itself
inline constexpr std::chrono::milliseconds kWatchCursorInterval{5'000};  // what a restart reads again, at most

// --- terminal, hooks and imports ---
inline constexpr std::int64_t kSessionIdleSeconds = 12 * 3600;  // a session that says nothing for this long has ended

}  // namespace shepherd
