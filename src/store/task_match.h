// Decides which tasks pass a filter. Stores may narrow the list with an index first; this is the final decision.
//
// `repo` is the repository's URL or the label repo or shepherd.io/repo. `issue` is the source's id or URL or the label
// issue or shepherd.io/issue. `fleet` is the label fleet or shepherd.io/fleet. `session` is an agent's session that the
// task had. `text` is found in id, title, description and repository, ignoring ASCII case.
// Threads: value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/task.h"
#include "store/event_store.h"

namespace shepherd {

// Applies everything but `before` and `limit`.
// `description` is the task's own, which a row does not have; nullptr leaves filter.text to its other members.
bool matches(const TaskFilter& filter, const TaskRow& row, const std::string* description);

// A place in the list, newest first, that stays valid if its task is deleted: "<created, ms>:<id>" as `before`. A plain
// id, which never contains a colon, is the place of a task that must still exist.
struct TaskPlace {
  std::int64_t created_ms = 0;
  std::string id;
};
std::string place_after(const TaskRow& row);  // the next page starts after this task
std::optional<TaskPlace> task_place(std::string_view before);

// Two creation requests ask for the same task if their fingerprints (the spec without its id) are equal.
std::string spec_fingerprint(const TaskSpec& spec);

}  // namespace shepherd
