// Bounds of runs and runners, with their reasons. Threads: value.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/limits.h"

namespace shepherd {

// --- runner: one task ---
inline constexpr std::chrono::milliseconds kStallSilence{300'000};  // a working agent this quiet is reported, not ended
inline constexpr std::chrono::milliseconds kAgentEndWait{60'000};   // told that nothing more comes, then the ladder
inline constexpr std::chrono::milliseconds kBackgroundWait{600'000};  // for work an idle agent left running beside it
inline constexpr std::chrono::milliseconds kRunTick{1'000};       // the longest a run goes without a look at the time
inline constexpr std::chrono::milliseconds kRunDrain{20'000};     // after the end; then the rest stays in the spool
inline constexpr std::chrono::milliseconds kPendingDrain{5'000};  // for one spool that somebody left behind
inline constexpr std::size_t kMaxEndedInStatus = 200;             // ended processes named in an event; more are counted
inline constexpr std::size_t kMaxResultCommits = 100;             // named in a result; more are counted
inline constexpr std::size_t kMaxResultFiles = 500;               // the same for changed files
inline constexpr std::size_t kMaxProgramOutputBytes = 4 * kMiB;   // of git and the like; more is cut
inline constexpr std::chrono::milliseconds kGitTimeout{600'000};  // a clone over a slow line
inline constexpr std::chrono::milliseconds kVersionTimeout{10'000};  // what an agent program says of itself

// --- runner: many tasks ---
inline constexpr std::int64_t kRunners = 2;        // of `serve`, unless it says
inline constexpr std::int64_t kMaxRunners = 256;   // in one process: five threads each
inline constexpr std::int64_t kClaimSeconds = 20;  // one question for work waits this long; below kClientTimeout
inline constexpr int kLeaseRenewals = 3;           // tries within one lease
inline constexpr std::chrono::milliseconds kClaimPause{1'000};  // after a question that failed
inline constexpr std::chrono::milliseconds kHostLook{500};      // how soon a run sees that its host is gone
inline constexpr std::chrono::milliseconds kHostWait{20'000};   // for another process that is just starting to host
inline constexpr std::size_t kMaxTaskFileBytes = 4 * kMiB;
inline constexpr std::size_t kMaxFileTasks = 1'000;          // tasks in one file
inline constexpr std::chrono::milliseconds kBoardTick{250};  // how often the live lines are drawn again

}  // namespace shepherd
