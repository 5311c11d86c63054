// The bounds of model, with their reasons. Threads: value.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/limits.h"

namespace shepherd {

// --- ids and small fields ---
inline constexpr std::size_t kMaxEventIdBytes = 64;
inline constexpr std::size_t kMaxTypeBytes = 64;     // an event's `type`
inline constexpr std::size_t kMaxTaskWarnings = 20;  // unknown members reported per request; more are not typing errors
inline constexpr std::size_t kMaxWarnedNameBytes = 64;  // a longer name is not a typing error
// A name, title or URL of a task. Every row of a list carries them, so a page of 1,000 rows stays a few megabytes at
// the worst.
inline constexpr std::size_t kMaxTaskTextBytes = 4 * 1024;
inline constexpr std::size_t kMaxLabels = 64;       // per task
inline constexpr std::size_t kMaxLabelBytes = 256;  // key or value

// --- events ---
inline constexpr std::size_t kMaxEventBytes =
    256 * kKiB;  // after condensing; every consumer must accept an event in one piece
inline constexpr std::size_t kMaxEventsPerPost = 10'000;
inline constexpr std::size_t kMaxDetailBytes = 8 * kMiB;   // full content and raw record of an event, uncompressed
inline constexpr std::size_t kMaxSummaryCharacters = 500;  // one line of text
inline constexpr std::int64_t kMaxTimestampMs = 253'402'300'799'999;  // end of the year 9999, RFC 3339's latest time
inline constexpr std::size_t kMaxDeltaBytes = 64 * kKiB;              // one live text delta

// --- condensing (defaults; configurable) ---
inline constexpr std::size_t kCondensedCommandCharacters = 500;
inline constexpr std::size_t kCondensedResultCharacters = 200;
inline constexpr std::size_t kCondensedStringCharacters = 500;

// --- tasks ---
inline constexpr std::size_t kMaxContextBytes =
    1'500'000;  // larger is 413; other vendors' adapters collect at most this; staged as a file

// --- model ---
inline constexpr std::size_t kMaxUsageSessions = 256;  // sessions of one task whose totals are kept separately

// --- steering ---
inline constexpr std::size_t kMaxTaskCommands = 64;   // newest commands in a task's state, and open commands per task
inline constexpr std::size_t kMaxTaskApprovals = 64;  // open approvals in a task's state
inline constexpr std::size_t kMaxCapabilitiesBytes = 4 * kKiB;  // a dozen short names
inline constexpr std::size_t kMaxRunnerIdBytes = 128;
inline constexpr std::size_t kMaxCommandArguments = 1'000;  // argv of a task that is a command line
inline constexpr std::size_t kMaxReportedTasks = 10'000;    // leases in one report of a runner
inline constexpr std::size_t kMaxClaimAgents = 64;          // agent dialects that one runner supports
inline constexpr std::int64_t kMaxClaimWaitSeconds = 30;    // shorter than the idle timeout of common proxies

// --- commands and drivers ---
inline constexpr std::size_t kMaxCommandBytes = 1 * kMiB;  // one command, e.g. a steering text or a changed tool input
inline constexpr std::int64_t kCommandExpirySeconds = 60;  // default; then a command that no runner took expires
inline constexpr std::int64_t kMaxCommandExpirySeconds = 24 * 3600;

}  // namespace shepherd
