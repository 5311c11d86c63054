// The rows of the change stream that are no events, and of records.
// Threads: its connection's. Errors are the database's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "sqlite/database.h"
#include "store/change.h"

namespace shepherd {

// Adds the change and now and then removes those beyond kKeptChanges.
Result<void> add_change(Database& database, const Change& change);
// Those with after < number <= through, at most `limit`, ascending.
Result<std::vector<Change>> read_changes(Database& database, std::uint64_t after, std::uint64_t through,
                                         std::size_t limit);
// The number of the oldest change that is kept; 0: there is none.
Result<std::uint64_t> oldest_change(Database& database);

Result<std::string> read_record(Database& database, const std::string& kind, const std::string& key);  // empty: none

}  // namespace shepherd
