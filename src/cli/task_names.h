// The task that a person means by what they typed: its id, the beginning of it when only one task begins so, or `-` for
// the task made last.
// Threads: value.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "client/api_client.h"

namespace shepherd {

// Errors: not_found/unknown_task, invalid_argument/which_task with some of those that begin so, or the server's.
Result<TaskView> find_task(ApiClient& client, std::string_view typed);

// The help of an argument that names a task.
inline constexpr const char* kTaskHelp = "Task id, a unique prefix of it, or - for the newest task";

}  // namespace shepherd
