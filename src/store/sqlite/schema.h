// The tables, their versions, and the settings of a connection. The columns are explained beside the SQL. Threads:
// caller.
#pragma once

#include <string>

#include "base/result.h"
#include "sqlite/database.h"

namespace shepherd {

inline constexpr int kSchemaVersion = 3;

// Brings an empty or older file to kSchemaVersion, in one transaction. A newer one is refused with
// internal/newer_schema, another program's file with internal/corrupt.
Result<void> migrate(Database& database, int page_bytes);

// Settings that SQLite keeps for each connection. cache_bytes: its page cache.
Result<void> configure_writer(Database& database, std::size_t cache_bytes, std::size_t wal_keep_bytes);
Result<void> configure_reader(Database& database, std::size_t cache_bytes);

// 0 for an empty file.
Result<int> schema_version(Database& database);

// What to say of a number that no program of ours ever wrote into a file with tables.
Error bad_schema_version(const Database& database, int version);

}  // namespace shepherd
