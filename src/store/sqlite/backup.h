// Copies a store or a ledger while it is in use, also by another process.
// Threads: any.
#pragma once

#include <string>

#include "base/result.h"

namespace shepherd {

// Writes the state committed at its start to `destination`, which must not exist. The file appears only when it is
// complete and on disk, and opens like the original. Meanwhile the write-ahead log of the running store cannot be
// reset, so it grows by what is written during the backup. conflict/destination_exists, unavailable, storage_full,
// internal/corrupt.
Result<void> backup_database(const std::string& database_file, const std::string& destination);

}  // namespace shepherd
