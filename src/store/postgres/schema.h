// The tables of the PostgreSQL store and their migrations. They live in the first schema of the connection's
// search_path. An advisory lock lets one replica migrate while the others wait for it.
//
// Failures: the connection's; internal/newer_schema when a newer program has migrated the database already.
// Threads: caller.
#pragma once

#include "base/result.h"
#include "postgres/connection.h"

namespace shepherd {

inline constexpr int kPostgresSchemaVersion = 1;

Result<void> migrate(PostgresConnection& connection);

}  // namespace shepherd
