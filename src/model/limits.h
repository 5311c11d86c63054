// The bounds of model, with their reasons. Threads: value.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/limits.h"

namespace shepherd {

// --- ids and small fields ---
inline constexpr std::size_t kMaxEventIdBytes = 64;
inline constexpr std::size_t kMaxTypeBytes = 64;  // an event's `type`
inline constexpr std::size_t kMaxTaskWarnings =
    20;  // members of a request that nobody reads; then it is no typing error
inline constexpr std::size_t kMaxWarnedNameBytes = 64;  // longer names are nobody's slip
inline constexpr std::size_t kMaxLabels = 64;           // per task
inline constexpr std::size_t kMaxLabelBytes = 256;      // key or value

// --- events ---
inline constexpr std::size_t kMaxEventBytes =
    256 * kKiB;  // after condensing; what every consumer must take in one piece
inline constexpr std::size_t kMaxEventsPerPost = 10'000;
inline constexpr std::size_t kMaxDetailBytes = 8 * kMiB;   // full content and raw record of one event, before zstd
inline constexpr std::size_t kMaxSummaryCharacters = 500;  // one human line
inline constexpr std::int64_t kMaxTimestampMs = 253'402'300'799'999;  // of the year 9999: what an event can say
inline constexpr std::size_t kMaxDeltaBytes = 64 * kKiB;              // one live text delta

// --- condensing (defaults; configurable) ---
inline constexpr std::size_t kCondensedCommandCharacters = 500;
inline constexpr std::size_t kCondensedResultCharacters = 200;
inline constexpr std::size_t kCondensedStringCharacters = 500;

// --- tasks ---
inline constexpr std::size_t kMaxContextBytes =
    1'500'000;  // 413 above: what other makers' adapters collect at most; it is staged as a file

// --- model ---
inline constexpr std::size_t kMaxUsageSessions = 256;  // sessions of one task whose totals are kept apart

// --- steering ---
inline constexpr std::size_t kMaxTaskCommands = 64;   // newest commands in a task's state; as many may be open
inline constexpr std::size_t kMaxTaskApprovals = 64;  // open ones in a task's state; an agent asks a few at a time
inline constexpr std::size_t kMaxCapabilitiesBytes = 4 * kKiB;  // a dozen short names
inline constexpr std::size_t kMaxRunnerIdBytes = 128;
inline constexpr std::size_t kMaxCommandArguments = 1'000;  // argv of a task that is a command line
inline constexpr std::size_t kMaxClaimAgents = 64;          // dialects one runner speaks
inline constexpr std::int64_t kMaxClaimWaitSeconds = 30;    // below what proxies give an idle request

// --- commands and drivers ---
inline constexpr std::size_t kMaxCommandBytes = 1 * kMiB;  // one command: a steering text or a changed tool input
inline constexpr std::int64_t kCommandExpirySeconds = 60;  // a command nobody took by then is expired, unless it says
inline constexpr std::int64_t kMaxCommandExpirySeconds = 24 * 3600;

}  // namespace shepherd
