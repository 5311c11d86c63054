// The tasks that had an agent's session: one, unless it was resumed.
// Threads: any (no state). Blocking.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/task.h"
#include "store/event_store.h"

namespace shepherd {

// Newest first, at least one. not_found/unknown_session.
Result<std::vector<Task>> tasks_of_session(const EventStore& store, const std::string& session);

}  // namespace shepherd
