// The bounds of store/postgres, with their reasons. Threads: value.
#pragma once

#include <chrono>
#include <cstddef>

namespace shepherd {

inline constexpr std::size_t kPostgresReaders = 6;  // connections of one replica, apart from the writer's
// How long a read waits for one of them. A slower database answers 503 instead of holding up the thread.
inline constexpr std::chrono::seconds kPostgresReaderWait{5};
inline constexpr std::size_t kPostgresHeads = 20'000;  // tasks whose state the writer keeps between transactions
// Another replica wrote the same. The first attempts succeed soon; beyond this many the database is overloaded.
inline constexpr int kPostgresAttempts = 8;
inline constexpr std::chrono::milliseconds kPostgresPause{5};  // before the second attempt; doubles, with a random part
inline constexpr std::size_t kPostgresBatchesARead = 32;       // batches of one answer: at most 8 MiB in memory

}  // namespace shepherd
