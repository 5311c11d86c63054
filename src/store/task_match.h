// Which tasks a filter lets through. Stores may narrow with an index first; this decides.
//
// `repo` is the repository's URL or the label repo or shepherd.io/repo; `issue` the source's id or URL or the label
// issue or shepherd.io/issue; `fleet` the label fleet or shepherd.io/fleet; `session` an agent's session that the task
// had. `text` is found in id, title, description
// and repository, without regard to ASCII case.
// Threads: value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/task.h"
#include "store/event_store.h"

namespace shepherd {

// Everything but `before` and `limit`.
bool matches(const TaskFilter& filter, const Task& task);

// A place in the list, newest first, that stays when the task there is deleted: "<created, ms>:<id>" as `before`. A
// plain id (no colon is in one) is the place of a task that must still be there.
struct TaskPlace {
  std::int64_t created_ms = 0;
  std::string id;
};
std::string place_after(const Task& task);  // the next page begins after it
std::optional<TaskPlace> task_place(std::string_view before);

// Two creation requests ask for the same task when this is equal: the spec without its id.
std::string spec_fingerprint(const TaskSpec& spec);

}  // namespace shepherd
