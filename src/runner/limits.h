// The bounds of runner, with their reasons. Threads: value.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/limits.h"

namespace shepherd {

// --- clients ---
inline constexpr std::size_t kPostLines = 1'000;     // events in one request of post and import
inline constexpr std::size_t kPostBytes = 1 * kMiB;  // and about this many bytes

// --- runner: the agent's processes ---
inline constexpr std::chrono::milliseconds kInterruptWait{10'000};  // after the agent's own interrupt, before SIGINT
inline constexpr std::chrono::milliseconds kSigintWait{5'000};      // after SIGINT, before SIGTERM
inline constexpr std::chrono::milliseconds kSigtermWait{5'000};     // after SIGTERM, before SIGKILL
inline constexpr std::chrono::milliseconds kSigkillWait{5'000};     // then what is still there is reported as left over
inline constexpr std::chrono::milliseconds kAgentDrain{2'000};      // an agent is gone but others hold its output open
inline constexpr std::chrono::milliseconds kReapPause{5};           // between two looks at processes that were killed
inline constexpr std::chrono::microseconds kFirstGonePause{200};    // the kernel is quick when nobody else is left
inline constexpr int kFreezePasses = 64;                  // looks for new processes before the frozen ones are killed
inline constexpr int kAgentReadsPerTurn = 8;              // then the other stream and the warden get their turn
inline constexpr std::size_t kMaxStdinBytes = 16 * kMiB;  // waiting for an agent that does not read
inline constexpr std::size_t kMaxWardenMessageBytes = 32 * kMiB;  // above what the kernel takes as arguments
inline constexpr std::size_t kMaxStartFailureBytes = 512;  // what a confinement failed at; below PIPE_BUF, so whole
inline constexpr std::size_t kMaxLandlockGrants = 20'000;  // each is two calls at an agent's start, and kernel memory
inline constexpr std::size_t kMaxCommandLineBytes = 1 * kKiB;  // of an ended process in a report
inline constexpr std::size_t kMaxEndedProcesses = 10'000;      // in one report; more are only counted

// --- runner: the outbox ---
inline constexpr std::chrono::milliseconds kOutboxLinger{2};  // the first event of a batch waits for company
inline constexpr std::size_t kOutboxQueueBytes = 16 * kMiB;   // events waiting for the disk; more are lost and counted
inline constexpr std::size_t kOutboxDeltas = 256;             // live text waiting for the server; the oldest goes first
inline constexpr std::size_t kOutboxDeltaBytes = 512 * kKiB;  // and its bytes
inline constexpr std::chrono::milliseconds kDeltaTimeout{2'000};  // live text that takes longer is not worth sending
inline constexpr std::size_t kSpoolBytes = 1024 * kMiB;        // undelivered events on disk; more are lost and counted
inline constexpr std::size_t kSpoolRoomBytes = 128 * kKiB;     // kept on the disk for a task's end, its largest event
inline constexpr std::size_t kSpoolTrimBytes = 64 * kMiB;      // delivered events kept, should the server ask for them
inline constexpr std::chrono::milliseconds kSpoolSync{1'000};  // undelivered events reach the disk itself within this

// --- runner: one task ---
inline constexpr std::chrono::milliseconds kAgentEndWait{60'000};     // told that nothing more comes, then the ladder
inline constexpr std::chrono::milliseconds kBackgroundWait{600'000};  // for work an idle agent left running beside it
inline constexpr std::chrono::milliseconds kUnreadWait{10'000};   // an idle agent that has not said by then what became
                                                                  // of a message never does
inline constexpr std::chrono::milliseconds kQueuedWait{600'000};  // one that said it will take a message up does so at
                                                                  // once; a machine that sleeps or swaps is slower
inline constexpr std::chrono::milliseconds kRunTick{1'000};       // the longest a run goes without a look at the time
inline constexpr std::chrono::milliseconds kRunDrain{20'000};     // after the end; then the rest stays in the spool
inline constexpr std::chrono::milliseconds kPendingDrain{5'000};  // for one spool that somebody left behind
inline constexpr std::chrono::milliseconds kSpoolLook{15'000};    // between two tries to deliver what was left behind
inline constexpr std::size_t kMaxEndedInStatus = 200;             // ended processes named in an event; more are counted
inline constexpr std::size_t kMaxResultCommits = 100;             // named in a result; more are counted
inline constexpr std::size_t kMaxResultFiles = 500;               // the same for changed files
inline constexpr std::size_t kMaxProgramOutputBytes = 4 * kMiB;   // of git and the like; more is cut
inline constexpr std::chrono::milliseconds kGitTimeout{600'000};  // a clone over a slow line
inline constexpr std::chrono::milliseconds kGitLookTimeout{5'000};  // one look at what an agent left: it may be hostile
inline constexpr std::chrono::milliseconds kWorkResultTimeout{10'000};  // all of them: an end waits for the result
inline constexpr std::size_t kMaxCountedBytes = 64 * kMiB;              // of new files, for the number of their lines

// --- runner: around the agent ---
inline constexpr std::chrono::milliseconds kProgramStopWait{500};  // for a git that is stopped to tidy up; then SIGKILL
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
