// Which tasks a filter lets through. Stores may narrow with an index first; this decides.
//
// `repo` is the repository's URL or the label repo or shepherd.io/repo; `issue` the source's id or URL or the label
// issue or shepherd.io/issue; `fleet` the label fleet or shepherd.io/fleet; `session` an agent's session that the task
// had. `text` is found in id, title, description
// and repository, without regard to ASCII case.
// Threads: value.
#pragma once

#include <string>

#include "model/task.h"
#include "store/event_store.h"

namespace shepherd {

// Everything but `before` and `limit`.
bool matches(const TaskFilter& filter, const Task& task);

// Two creation requests ask for the same task when this is equal: the spec without its id.
std::string spec_fingerprint(const TaskSpec& spec);

}  // namespace shepherd
