// The bounds of runner, with their reasons. Threads: value.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/limits.h"

namespace shepherd {

// --- runner: one task ---
inline constexpr std::chrono::milliseconds kAgentEndWait{60'000};     // from closing its input to the ladder
inline constexpr std::chrono::milliseconds kBackgroundWait{600'000};  // for background work of an idle agent
inline constexpr std::chrono::milliseconds kUnreadWait{10'000};   // an idle agent reports a message's fate by then, or
                                                                  // never
inline constexpr std::chrono::milliseconds kQueuedWait{600'000};  // an agent takes a queued message at once; a machine
                                                                  // that sleeps or swaps is slower
inline constexpr std::size_t kMaxHeldCommands = 100;           // for an agent that is being prepared; more are refused
inline constexpr std::size_t kSeenCommands = 10'000;           // ids kept to tell a repeat; a day of a busy operator
inline constexpr std::chrono::milliseconds kRunTick{1'000};    // longest time between two checks of a run
inline constexpr std::chrono::milliseconds kRunDrain{20'000};  // after the end; then the rest stays in the spool
inline constexpr std::size_t kMaxEndedInStatus = 200;          // ended processes named in an event; more are counted
inline constexpr std::size_t kMaxResultCommits = 100;          // commits named in a result; more are counted
inline constexpr std::size_t kMaxResultFiles = 500;            // changed files listed in a result
inline constexpr std::chrono::milliseconds kGitTimeout{600'000};        // a clone over a slow line
inline constexpr std::chrono::milliseconds kGitLookTimeout{5'000};      // one inspection of a perhaps hostile tree
inline constexpr std::chrono::milliseconds kWorkResultTimeout{10'000};  // all inspections; the end waits for them
inline constexpr std::size_t kMaxCountedBytes = 64 * kMiB;              // of new files, for counting their lines

// --- runner: around the agent ---
inline constexpr std::chrono::milliseconds kVersionTimeout{5'000};  // time for a program to print its version
inline constexpr std::size_t kMaxVersionBytes = 128;                // kept of its version text
inline constexpr std::size_t kMaxRulesBytes = 64 * kKiB;  // passed as one argument, of which the kernel allows 128 KiB

// --- runner: what an agent asks of its machine ---
inline constexpr std::size_t kMaxHostCalls = 128;               // without their answers yet; more are refused
inline constexpr std::size_t kMaxHostFileBytes = 2 * kMiB;      // of one read; as JSON at most six times as many, which
                                                                // fit into kMaxStdinBytes
inline constexpr std::size_t kMaxHostSkippedBytes = 64 * kMiB;  // read to find a line; reading more takes too long
inline constexpr std::size_t kHostReadBytes = 64 * kKiB;        // one read of a file
inline constexpr std::size_t kMaxUnreadBytes = 2 * kMiB;        // above it, answers wait until the agent reads
inline constexpr std::chrono::milliseconds kUnreadPause{50};    // between two looks whether it did
inline constexpr std::size_t kMaxTerminals = 32;                // open at the same time; each has a thread and a warden
inline constexpr std::size_t kTerminalBytes = 256 * kKiB;       // kept of an output, if the agent names no number
inline constexpr std::size_t kMaxTerminalBytes = 1 * kMiB;      // the largest number; 2 MiB of memory
inline constexpr std::chrono::milliseconds kTerminalStopWait{500};  // SIGTERM to SIGKILL, so that git can tidy up
inline constexpr std::size_t kMaxShownPathCharacters = 160;         // of a path or a name in a message

// --- runner: many tasks ---
inline constexpr std::int64_t kClaimSeconds = 20;                      // how long one claim waits; below kClientTimeout
inline constexpr int kLeaseRenewals = 3;                               // attempts within one lease
inline constexpr std::chrono::milliseconds kLeaseRenewTimeout{5'000};  // one answer
inline constexpr std::chrono::milliseconds kLeaseRenewAtLeast{1'000};  // one answer, however short the lease is
inline constexpr std::chrono::milliseconds kLeavePatience{1'000};      // the end of a runner waits for its goodbye
inline constexpr std::chrono::milliseconds kClaimPause{1'000};         // after a failed claim

// --- streaming agents (gRPC) ---
inline constexpr std::chrono::milliseconds kAgentConnectWait{5'000};  // for an agent that is just starting
// Servers treat pings more often than every 5 minutes as an attack and close the connection.
inline constexpr std::chrono::milliseconds kAgentKeepalive{310'000};
inline constexpr std::chrono::milliseconds kAgentKeepaliveTimeout{20'000};  // time for the answer to a ping
inline constexpr std::size_t kMaxCredentialBytes = 1 * kMiB;                // a token or certificate file of an agent
inline constexpr std::size_t kMaxKnownDialects =
    1'000;  // addresses; agents beyond are asked for their dialect each time

// --- agents that are HTTP services of their own ---
inline constexpr std::chrono::milliseconds kServiceStartWait{
    120'000};                                                  // it may make its database first, on a busy disk
inline constexpr std::chrono::milliseconds kServiceLook{100};  // between two looks at the ladder's first rung

}  // namespace shepherd
