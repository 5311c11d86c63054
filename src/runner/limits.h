// The bounds of runner, with their reasons. Threads: value.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/limits.h"

namespace shepherd {

// --- runner: one task ---
inline constexpr std::chrono::milliseconds kAgentEndWait{60'000};     // told that nothing more comes, then the ladder
inline constexpr std::chrono::milliseconds kBackgroundWait{600'000};  // for work an idle agent left running beside it
inline constexpr std::chrono::milliseconds kUnreadWait{10'000};   // an idle agent that has not said by then what became
                                                                  // of a message never does
inline constexpr std::chrono::milliseconds kQueuedWait{600'000};  // one that said it will take a message up does so at
                                                                  // once; a machine that sleeps or swaps is slower
inline constexpr std::chrono::milliseconds kRunTick{1'000};       // the longest a run goes without a look at the time
inline constexpr std::chrono::milliseconds kRunDrain{20'000};     // after the end; then the rest stays in the spool
inline constexpr std::size_t kMaxEndedInStatus = 200;             // ended processes named in an event; more are counted
inline constexpr std::size_t kMaxResultCommits = 100;             // named in a result; more are counted
inline constexpr std::size_t kMaxResultFiles = 500;               // changed files listed in a result
inline constexpr std::chrono::milliseconds kGitTimeout{600'000};  // a clone over a slow line
inline constexpr std::chrono::milliseconds kGitLookTimeout{5'000};  // one look at what an agent left: it may be hostile
inline constexpr std::chrono::milliseconds kWorkResultTimeout{10'000};  // all of them: an end waits for the result
inline constexpr std::size_t kMaxCountedBytes = 64 * kMiB;              // of new files, for the number of their lines

// --- runner: around the agent ---
inline constexpr std::chrono::milliseconds kVersionTimeout{5'000};  // a program that does not say its version by then
inline constexpr std::size_t kMaxVersionBytes = 128;                // kept of what it says
inline constexpr std::size_t kMaxRulesBytes = 64 * kKiB;  // one argument has them, and the kernel takes 128 KiB

// --- runner: many tasks ---
inline constexpr std::int64_t kClaimSeconds = 20;  // one question for work waits this long; below kClientTimeout
inline constexpr int kLeaseRenewals = 3;           // tries within one lease
inline constexpr std::chrono::milliseconds kLeaseRenewTimeout{5'000};  // for one answer: one thread renews all leases
inline constexpr std::chrono::milliseconds kClaimPause{1'000};         // after a question that failed

// --- streaming agents (gRPC) ---
inline constexpr std::chrono::milliseconds kAgentConnectWait{5'000};  // for an agent that is just starting
// Servers take pings more often than every 5 minutes for an attack and end the connection.
inline constexpr std::chrono::milliseconds kAgentKeepalive{310'000};
inline constexpr std::chrono::milliseconds kAgentKeepaliveTimeout{20'000};  // for the answer to one
inline constexpr std::size_t kMaxCredentialBytes = 1 * kMiB;                // a token or certificate file of an agent

}  // namespace shepherd
