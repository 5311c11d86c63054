// Bounds that several modules share, with their reasons; the others are in the limits.h of their module.
// A bound that is in none of them does not exist. Threads: value.
#pragma once

#include <chrono>
#include <cstddef>

namespace shepherd {

inline constexpr std::size_t kKiB = 1024;
inline constexpr std::size_t kMiB = 1024 * kKiB;

// --- ids and small fields ---
inline constexpr std::size_t kMaxTaskIdBytes = 128;

// --- HTTP ---
inline constexpr std::chrono::milliseconds kWriteDeadline{30'000};  // a peer that takes nothing for this long is dead

// --- feeds and hub ---
inline constexpr std::size_t kSegmentBytes = 64 * kKiB;  // framed bytes come in pieces; a stalled consumer pins one

// --- SQLite ---
inline constexpr std::chrono::milliseconds kBusyWait{5'000};  // another process holds the database
inline constexpr std::size_t kReadConnections = 4;

// --- search ---
inline constexpr std::size_t kMaxQueryBytes = 1'000;
inline constexpr std::size_t kMaxSearchResults = 500;

// --- gRPC ---
inline constexpr std::size_t kMaxSessionEvents = 1'000;  // GetSession answers with

// --- inbox, timeline, findings, stats ---
inline constexpr int kLedgerDays =
    400;  // figures are kept this long, unless retention.stats_days says: a year and a month

// --- runner: the agent's processes ---
inline constexpr int kAgentPipeBytes = 1024 * 1024;        // output an agent can write while its listener is busy
inline constexpr std::size_t kAgentReadBytes = 64 * kKiB;  // one read of it

// --- runner: one task ---
inline constexpr std::chrono::milliseconds kStallSilence{300'000};  // a working agent this quiet is reported, not ended

// --- streaming agents (gRPC) ---
inline constexpr std::chrono::milliseconds kAgentConnectLook{100};  // how soon a stop is seen while connecting

inline constexpr std::size_t kMaxTaskPage = 1'000;

// --- files ---
inline constexpr std::size_t kMaxFirstLineBytes = 16 * kKiB;  // of a file that holds one value, such as a token

inline constexpr std::size_t kMaxHookBatch = 500;  // hook calls in one request: one commit

}  // namespace shepherd
