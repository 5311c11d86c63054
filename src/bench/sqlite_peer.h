// SQLite by itself: how fast it inserts the very rows that the server wrote, with the same table, indexes, page size
// and durability, and as many events a transaction as the server put into one.
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/result.h"

namespace shepherd::bench {

struct SqliteInserts {
  std::uint64_t events = 0;
  std::uint64_t transactions = 0;
  double seconds = 0;  // of inserting; reading the rows is not counted

  double events_per_second() const { return seconds > 0 ? static_cast<double>(events) / seconds : 0; }
};

// Reads the newest `run` rows of `source` (a server may be using it), at least `events` of them if there are so many,
// and inserts them into the new database `copy`. unavailable/sqlite with SQLite's words.
// Threads: any.
Result<SqliteInserts> insert_rows_again(const std::filesystem::path& source, const std::filesystem::path& copy,
                                        double events_per_transaction, std::uint64_t events);

}  // namespace shepherd::bench
