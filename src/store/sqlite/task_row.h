// A task's row, its info and its spec, written once and rarely patched. The writer owns the projection in the row
// (writer_heads.h).
// Threads: its connection's. Errors are the database's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/task.h"
#include "sqlite/database.h"

namespace shepherd {

// Reads a row of `SELECT kRowColumns FROM kRowTables …`. Its state is the projection, which may be out of date.
inline constexpr const char* kRowColumns = "task.key, task.created, task.projection, task_info.info";
inline constexpr const char* kRowTables = "task JOIN task_info ON task_info.task = task.key";
TaskRow row_of(const Statement& row);

// nullopt if the task does not exist.
Result<std::optional<TaskRow>> read_task_row(Database& database, const std::string& id);
Result<std::optional<TaskSpec>> read_task_spec(Database& database, const std::string& id);

Result<std::int64_t> insert_task_row(Database& database, const Task& task, const std::string& request_hash,
                                     const std::string& idempotency_key);
// Updates title and labels.
Result<void> update_task_row(Database& database, std::int64_t key, const TaskSpec& spec);

}  // namespace shepherd
