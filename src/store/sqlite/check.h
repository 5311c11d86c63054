// The full check of a store, for `shepherd doctor`: slow, complete, and without changing anything.
// Threads: any.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace shepherd {

// What is wrong, one line each; empty: nothing. Checks SQLite's own structure, that logs are numbered without holes and
// readable, that projections are what the fold says, and that details and counters fit. Works while the store is in
// use. Errors only when the file cannot be opened or read at all.
Result<std::vector<std::string>> check_store(const std::string& database_file);

}  // namespace shepherd
