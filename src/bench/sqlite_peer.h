// SQLite alone: how fast it inserts the same rows that the server wrote, with the same table, indexes, page size and
// durability, and as many events per transaction.
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/result.h"

namespace shepherd::bench {

struct SqliteInserts {
  std::uint64_t events = 0;
  std::uint64_t transactions = 0;
  double seconds = 0;  // of inserting, without reading the rows

  double events_per_second() const { return seconds > 0 ? static_cast<double>(events) / seconds : 0; }
};

// Reads the newest `run` rows of `source` (a server may be using it) with at least `events` events, if there are
// enough, and inserts them into the new database `copy`. unavailable/sqlite with SQLite's message. Threads: any.
Result<SqliteInserts> insert_rows_again(const std::filesystem::path& source, const std::filesystem::path& copy,
                                        double events_per_transaction, std::uint64_t events);

}  // namespace shepherd::bench
