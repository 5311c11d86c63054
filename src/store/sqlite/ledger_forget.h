// What the ledger does about deleted tasks. Which tasks have called a tool is kept beside its figures, so that a name
// can go with the last of them; a span loses its id and stays: how many tasks were under way does not change. Threads:
// the connection's.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sqlite/database.h"

namespace shepherd {

// Ids of tasks that are not known to be deleted.
inline constexpr const char* kKnownTasks = "SELECT task FROM span WHERE task NOT LIKE 'deleted:%'";

// The table, and in a ledger that did without it an owner for each tool that it has, because their tasks are unknown.
Result<void> prepare_forgetting(Database& database);

// Within a transaction. Tools that no other task has called go, and are added to `gone`.
Result<void> forget_tasks(Database& database, const std::vector<std::string>& tasks, std::vector<std::string>& gone);

// Spans were dropped for their age: so are the tasks' tools.
Result<void> drop_tool_tasks(Database& database);

// Outside of a transaction: no page and no part of the write-ahead log has what was deleted.
Result<void> purge_ledger(Database& database);

}  // namespace shepherd
