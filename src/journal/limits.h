// The bounds of journal, with their reasons. Threads: value.
#pragma once

#include <chrono>
#include <cstddef>

#include "base/limits.h"

namespace shepherd {

// --- fire-and-forget producers ---
inline constexpr std::chrono::milliseconds kReorderWait{2000};  // how long an early number waits for its predecessors
inline constexpr std::size_t kReorderEvents = 4'096;            // early events that wait, per task
inline constexpr std::size_t kReorderBytes = 8 * kMiB;          // their bytes, per task
inline constexpr std::size_t kReorderAllBytes = 64 * kMiB;  // their bytes over all tasks; half of kMaxQueuedWriteBytes
inline constexpr std::chrono::milliseconds kEndQuiet{100};  // an end waits for events sent just before it

// --- feeds and hub ---
inline constexpr std::size_t kFeedReadEvents = 4'096;  // one store read of a feed that is behind
inline constexpr std::size_t kFeedReadBytes =
    128 * kKiB;                                       // bytes of one such read, which a consumer that then stalls holds
inline constexpr std::size_t kPositionEvery = 1'000;  // filtered events between `position` messages
inline constexpr std::chrono::milliseconds kPositionInterval{5'000};
inline constexpr std::chrono::milliseconds kHeadSweep{1'000};  // how often lost bus hints are repaired

// --- followers ---
inline constexpr std::size_t kMaxFollowerCommits =
    1'024;  // maximum that waits for a slow follower; then it reads the store
inline constexpr std::chrono::milliseconds kCursorInterval{5'000};  // maximum span that a restart follows again

// --- writing ---
inline constexpr std::size_t kMaxQueuedWrites = 65'536;  // operations waiting for the writer; then 503 with Retry-After
inline constexpr std::size_t kMaxQueuedWriteBytes = 128 * kMiB;
inline constexpr std::size_t kSmallWriteBytes = 512;      // estimate of a write that carries no payload
inline constexpr std::size_t kMaxCommitBytes = 8 * kMiB;  // one group commit takes at most this much

}  // namespace shepherd
