// The tables, their versions, and the settings of a connection. The SQL explains the columns. Threads: caller.
#pragma once

#include <string>

#include "base/result.h"
#include "sqlite/database.h"

namespace shepherd {

inline constexpr int kSchemaVersion = 6;

// Migrates an empty or older file to kSchemaVersion, in one transaction. Refuses a newer file with
// internal/newer_schema and another program's file with internal/corrupt.
Result<void> migrate(Database& database, int page_bytes);

// Settings that SQLite keeps per connection. `cache_bytes` is the size of its page cache.
Result<void> configure_writer(Database& database, std::size_t cache_bytes, std::size_t wal_keep_bytes);
Result<void> configure_reader(Database& database, std::size_t cache_bytes);

// 0 for an empty file.
Result<int> schema_version(Database& database);

// The error for a version number that no release of this program ever wrote.
Error bad_schema_version(const Database& database, int version);

}  // namespace shepherd
