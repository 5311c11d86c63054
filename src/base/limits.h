// Bounds that several modules share, with their reasons. Every other bound is in the limits.h of its module.
// Threads: value.
#pragma once

#include <chrono>
#include <cstddef>

namespace shepherd {

inline constexpr std::size_t kKiB = 1024;
inline constexpr std::size_t kMiB = 1024 * kKiB;

// --- ids and small fields ---
inline constexpr std::size_t kMaxTaskIdBytes = 128;

// --- HTTP ---
inline constexpr std::chrono::milliseconds kWriteDeadline{30'000};  // a peer that accepts nothing for this long is dead

// --- feeds and hub ---
// Framed bytes come in such pieces; a stalled consumer pins one.
inline constexpr std::size_t kSegmentBytes = 64 * kKiB;

// --- SQLite ---
inline constexpr std::chrono::milliseconds kBusyWait{5'000};  // longest wait while another process locks the database
inline constexpr std::size_t kReadConnections = 14;           // at least one for each thread below and each follower

// --- lanes ---
inline constexpr std::size_t kLaneThreads = 2;        // two: one caller's work leaves a thread to the others
inline constexpr std::size_t kMaxLaneQueue = 1'024;   // requests that wait for a lane; then 503 with Retry-After
inline constexpr std::size_t kMaxLaneCaller = 256;    // those of one caller
inline constexpr std::size_t kMaxFeedQueue = 16'384;  // streams to open: after a restart all clients come at once
inline constexpr std::size_t kMaxFeedCaller = 4'096;  // those of one caller, which may be a machine full of agents

// --- search ---
inline constexpr std::size_t kMaxQueryBytes = 1'000;
inline constexpr std::size_t kMaxSearchResults = 500;

// --- gRPC ---
inline constexpr std::size_t kMaxSessionEvents = 1'000;  // maximum number of events in a GetSession answer

// --- inbox, timeline, findings, stats ---
inline constexpr int kLedgerDays = 400;  // a year and a month; retention.stats_days changes it

// --- runner: the agent's processes ---
inline constexpr int kAgentPipeBytes = 1024 * 1024;        // output an agent can write while its reader is busy
inline constexpr std::size_t kAgentReadBytes = 64 * kKiB;  // one read of an agent's output

// --- runner: one task ---
inline constexpr std::chrono::milliseconds kStallSilence{300'000};  // a working agent this silent is reported

// --- streaming agents (gRPC) ---
inline constexpr std::chrono::milliseconds kAgentConnectLook{100};  // how soon a stop is noticed while connecting

inline constexpr std::size_t kMaxTaskPage = 1'000;

// --- files ---
inline constexpr std::size_t kMaxFirstLineBytes = 16 * kKiB;  // of a file that holds one value, such as a token

inline constexpr std::size_t kMaxHookBatch = 500;  // hook calls in one request, which is one commit

}  // namespace shepherd
