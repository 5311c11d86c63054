// The bounds of follow, with their reasons. Threads: value.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/limits.h"

namespace shepherd {

inline constexpr int kRetentionDays = 30;
inline constexpr std::uint64_t kRetentionBytes = 0;  // 0: no bound by size
inline constexpr std::size_t kRetentionBatchesPerStep =
    500;  // rows one retention step deletes, so that writes go between
inline constexpr int kIndexRestRatio =
    3;  // while events come in, the indexer rests this many times as long as it works
inline constexpr std::size_t kIndexBatchEvents = 2'000;          // events per indexing transaction
inline constexpr std::size_t kMaxIndexedBytes = 8 * kKiB;        // text of one event that is indexed
inline constexpr std::chrono::milliseconds kIndexRetry{1'000};   // after the store or the index failed
inline constexpr std::chrono::milliseconds kInboxSweep{20'000};  // between two looks for agents that have gone quiet
inline constexpr std::size_t kMaxInboxTasks = 20'000;          // tasks that need somebody at once; nobody reads further
inline constexpr std::size_t kLedgerBatchEvents = 5'000;       // events per transaction of the ledger
inline constexpr std::size_t kMaxOpenToolCalls = 10'000;       // that wait for their result, to know how long it took
inline constexpr std::size_t kLedgerTasksPerLook = 1'000;      // asked for at once: whether they are still there
inline constexpr std::size_t kMaxLedgerKeyBytes = 128;         // of a tool's, agent's or model's name
inline constexpr std::chrono::milliseconds kLedgerPause{100};  // after a batch: what comes meanwhile shares the next
inline constexpr int kLedgerMinuteDays = 32;  // by the minute; older ones by the quarter of an hour, a fifteenth of it
inline constexpr std::uint64_t kLedgerBytes = 512 * kMiB;  // of statistics: a busy fleet's year is 400 MiB
inline constexpr std::chrono::milliseconds kLedgerTrimInterval{
    600'000};  // between two looks for figures that are too old

}  // namespace shepherd
