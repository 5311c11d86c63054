// The bounds of store_sqlite, with their reasons. Threads: value.
#pragma once

#include <chrono>
#include <cstddef>

#include "base/limits.h"

namespace shepherd {

// --- writing ---
inline constexpr std::size_t kHeadCacheTasks = 10'000;  // task heads that the writer keeps in memory
inline constexpr std::size_t kProjectEvery = 20'000;    // events between writes of projections without a state change

// --- SQLite ---
inline constexpr std::size_t kWalSoftBytes = 16 * kMiB;     // the checkpoint thread starts at this size
inline constexpr std::size_t kWalHardBytes = 256 * kMiB;    // at this size the writer itself checkpoints and waits
inline constexpr std::size_t kWalRestBytes = 2 * kMiB;      // remainder that the writer copies itself to reset the log
inline constexpr int kSqlitePageBytes = 8192;               // for new files; measured against 4 and 16 KiB
inline constexpr std::size_t kWriterCacheBytes = 8 * kMiB;  // page cache of the writing connection
inline constexpr std::size_t kReaderCacheBytes =
    1 * kMiB;  // page cache of each reading connection; the kernel caches the rest
inline constexpr std::chrono::milliseconds kIdleProject{
    1'000};  // idle time without writes before projections are written
inline constexpr std::size_t kMaxUnplacedBatches =
    16'384;                                              // batches whose places wait in memory to be written together
inline constexpr int kVacuumPages = 256;                 // pages returned to the file system in one step
inline constexpr std::size_t kMaxCheckProblems = 1'000;  // a badly damaged file has one problem per row
inline constexpr int kMaxWalPasses =
    4;  // each leaves what was committed meanwhile; once that stops shrinking, another does not help

}  // namespace shepherd
