// TEMPORARY: moves into base/limits.h
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace shepherd {
// --- inbox, timeline, findings, stats ---
inline constexpr std::chrono::milliseconds kInboxShowsFailed{86'400'000};  // a task that failed longer ago is history
inline constexpr std::chrono::milliseconds kInboxSweep{20'000};  // between two looks for agents that have gone quiet
inline constexpr std::chrono::milliseconds kInboxUpdateInterval{500};  // inbox_update: at most 2 a second
inline constexpr std::size_t kInboxPage = 100;                         // entries in one answer, unless it says
inline constexpr std::size_t kMaxInboxPage = 1'000;
inline constexpr std::size_t kMaxInboxTasks = 20'000;  // tasks that need somebody at once; nobody reads further
inline constexpr std::size_t kTimelineBuckets = 200;   // of a time bar, unless it says
inline constexpr std::size_t kMaxTimelineBuckets = 2'000;
inline constexpr std::size_t kMaxTimelineMarks = 500;         // a time bar has no more pixels for them
inline constexpr std::size_t kMaxTimelineEvents = 2'000'000;  // the newest of a log; 10 bytes of memory each
inline constexpr std::size_t kFindingPage = 100;              // findings in one answer, unless it says
inline constexpr std::size_t kMaxFindingPage = 1'000;
inline constexpr std::uint64_t kMaxStatsPoints = 1'000;        // of one curve
inline constexpr std::size_t kMaxStatsSeries = 20;             // curves a chart can show; the rest is one, "other"
inline constexpr std::size_t kMaxStatsTools = 50;              // the most used ones
inline constexpr std::size_t kLedgerBatchEvents = 5'000;       // events per transaction of the ledger
inline constexpr std::size_t kMaxOpenToolCalls = 10'000;       // that wait for their result, to know how long it took
inline constexpr std::size_t kMaxLedgerKeyBytes = 128;         // of a tool's, agent's or model's name
inline constexpr std::chrono::milliseconds kLedgerPause{100};  // after a batch: what comes meanwhile shares the next

}  // namespace shepherd
