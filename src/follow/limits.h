// The bounds of follow, with their reasons. Threads: value.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/limits.h"

namespace shepherd {

inline constexpr int kRetentionDays = 30;
inline constexpr std::uint64_t kRetentionBytes = 0;  // 0 means no bound by size
inline constexpr std::size_t kRetentionBatchesPerStep =
    500;  // rows that one retention step deletes, so that other writes come in between
inline constexpr std::size_t kRetentionEventsPerStep =
    2'000;  // each may have details; a step of 40,000 events with details held up other writes for seven seconds
inline constexpr int kIndexRestRatio = 3;  // the indexer rests this many times as long as it works, while events arrive
inline constexpr std::size_t kIndexBatchEvents = 2'000;          // events per indexing transaction
inline constexpr std::size_t kMaxIndexedBytes = 8 * kKiB;        // indexed text of one event
inline constexpr std::chrono::milliseconds kIndexRetry{1'000};   // after the store or the index failed
inline constexpr std::chrono::milliseconds kInboxSweep{20'000};  // time between two sweeps for quiet agents
inline constexpr std::size_t kMaxInboxTasks = 20'000;            // tasks in the inbox; people do not read further
inline constexpr std::size_t kLedgerBatchEvents = 5'000;         // events per transaction of the ledger
inline constexpr std::size_t kMaxOpenToolCalls = 10'000;         // calls without a result, to measure durations
inline constexpr std::size_t kLedgerTasksPerLook = 1'000;        // tasks checked at once for deletion
inline constexpr std::size_t kMaxLedgerKeyBytes = 128;           // of a name of a tool, agent or model
inline constexpr std::chrono::milliseconds kLedgerPause{100};  // after a batch, so that later events share the next one
inline constexpr int kLedgerMinuteDays = 32;  // by the minute; older days by the quarter of an hour, a fifteenth of it
inline constexpr std::uint64_t kLedgerBytes = 512 * kMiB;  // for statistics; a busy fleet's year takes 400 MiB
inline constexpr std::chrono::milliseconds kLedgerTrimInterval{600'000};  // time between two trims of old figures
inline constexpr std::size_t kMaxRetentionBatches =
    64 * kRetentionBatchesPerStep;  // examined in one round of retention

}  // namespace shepherd
