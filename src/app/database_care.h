// Looking after the database file from outside the server: a copy while it runs, and the full check. SQLite's readers
// do not disturb its writer. Threads: any; both block for as long as it takes.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace shepherd {

// A consistent copy of what is committed at this moment, in one file, complete or not at all. Returns its size.
// not_found/no_database, conflict/exists (an existing file is not overwritten), storage_full, unavailable.
Result<std::uint64_t> copy_database(const std::string& database, const std::string& destination);

struct DatabaseHealth {
  std::string problem;  // what the check found first; empty: nothing
  std::uint64_t bytes = 0;
};
// Reads every page. not_found/no_database when there is none yet.
Result<DatabaseHealth> check_database(const std::string& database);

}  // namespace shepherd
