// The full check of a store, for `shepherd doctor`: slow, complete and read-only.
// Threads: any.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace shepherd {

// Returns one line per problem; empty if there is none. Checks SQLite's own structure, that logs are numbered without
// holes and readable, that projections equal the fold, and that details and counters match. Works while the store is in
// use. Fails only if the file cannot be opened or read at all.
Result<std::vector<std::string>> check_store(const std::string& database_file);

}  // namespace shepherd
