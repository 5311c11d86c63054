// Removes deleted tasks from the ledger. The ledger records which tasks called a tool, so that it can delete the tool's
// name with the last of them. A span loses its id but stays, so that the number of active tasks over time does not
// change. Threads: the connection's.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sqlite/database.h"

namespace shepherd {

// Ids of tasks that are not recorded as deleted.
inline constexpr const char* kKnownTasks = "SELECT task FROM span WHERE task NOT LIKE 'deleted:%'";

// The table, and in a ledger that did without it an owner for each tool that it has, because their tasks are unknown.
Result<void> prepare_forgetting(Database& database);

// Runs within a transaction. Deletes the tools that no other task called and adds them to `gone`.
Result<void> forget_tasks(Database& database, const std::vector<std::string>& tasks, std::vector<std::string>& gone);

// Drops the tools of tasks whose spans were dropped because of their age.
Result<void> drop_tool_tasks(Database& database);

// Runs outside a transaction. Afterwards no page and no part of the write-ahead log contains deleted text.
Result<void> purge_ledger(Database& database);

}  // namespace shepherd
