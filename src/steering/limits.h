// The bounds of steering, with their reasons. Threads: value.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/limits.h"

namespace shepherd {

// --- steering ---
inline constexpr std::size_t kMaxCommandIdBytes = 56;              // the event's id is "command:" and this id
inline constexpr std::size_t kMaxParkedClaims = 10'000;            // claims that may wait for a task at the same time
inline constexpr std::int64_t kLeaseSeconds = 30;                  // a runner that sends nothing for this long is lost
inline constexpr std::chrono::milliseconds kMostLeaseStep{1'000};  // a longer pause between ticks is the server's own
inline constexpr std::int64_t kLeaseRounds = 10;                   // rounds of renewals within a lease's period
inline constexpr std::size_t kMostLeasesOver = 1'000;              // looked at in one round; the next one goes on
inline constexpr std::int64_t kTakerSeconds = 60;                  // a killed server's command feeds end after this
inline constexpr std::int64_t kRunnerSeenSeconds = 60;             // a runner is there for this long after its word
inline constexpr std::size_t kMaxSeenRunners = 10'000;             // there at the same time
inline constexpr std::size_t kMaxNamedAgents = 10;                 // named in one sentence about available agents
inline constexpr std::chrono::milliseconds kRunnerCount{1'000};    // how often runners are counted, for metrics
inline constexpr std::uint64_t kMaxSilentClaims = 3;               // runners that may claim a task and never report
inline constexpr std::int64_t kTimeoutGraceSeconds = 60;  // time for the runner itself to end a task over its timeout

// --- terminal, hooks and imports ---
inline constexpr std::int64_t kSessionIdleSeconds = 12 * 3600;  // a session that is silent for this long has ended
inline constexpr std::int64_t kSettleRetryMs = 1'000;           // pause after the write of a settlement failed

}  // namespace shepherd
