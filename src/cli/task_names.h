// Finds the task that a person typed: its id, a unique prefix of it, or `-` for the newest task.
// Threads: value.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "client/api_client.h"

namespace shepherd {

// Errors: not_found/unknown_task, invalid_argument/which_task with some of the matching tasks, or the server's.
Result<TaskView> find_task(ApiClient& client, std::string_view typed);

// The help text of an argument that names a task.
inline constexpr const char* kTaskHelp = "Task id, a unique prefix of it, or - for the newest task";

}  // namespace shepherd
