// A task's row and its spec, written once and rarely patched. The writer owns the projection in it (writer_heads.h).
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

struct TaskRow {
  std::int64_t key = 0;
  Task task;  // its state is the projection, which may be out of date
};

// nullopt if the task does not exist.
Result<std::optional<TaskRow>> read_task_row(Database& database, const std::string& id);
// Reads a row of `SELECT kTaskColumns FROM kTaskTables …`.
inline constexpr const char* kTaskColumns = "task.key, task.created, task.projection, task_spec.spec";
inline constexpr const char* kTaskTables = "task JOIN task_spec ON task_spec.task = task.key";
TaskRow task_of(const Statement& row);

Result<std::int64_t> insert_task_row(Database& database, const Task& task, const std::string& request_hash,
                                     const std::string& idempotency_key);
// Updates title and labels.
Result<void> update_task_row(Database& database, std::int64_t key, const TaskSpec& spec);

}  // namespace shepherd
