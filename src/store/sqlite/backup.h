// A copy of a store or a ledger while it is in use, also by another process.
// Threads: any.
#pragma once

#include <string>

#include "base/result.h"

namespace shepherd {

// Writes what was committed when it began to `destination`, which must not exist, and appears only when it is complete
// and on disk. The copy opens as what it is of. The log of the running store cannot start over meanwhile, so it grows
// by what is written during the backup. conflict/destination_exists, unavailable, storage_full, internal/corrupt.
Result<void> backup_database(const std::string& database_file, const std::string& destination);

}  // namespace shepherd
