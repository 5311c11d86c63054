// The tasks that had an agent's session (one, unless it was resumed), and the session's events.
// Threads: any (no state). Blocking.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/task.h"
#include "store/event_store.h"

namespace shepherd {

// Newest first, at least one. not_found/unknown_session.
Result<std::vector<TaskRow>> tasks_of_session(const EventStore& store, const std::string& session);

struct SessionEvent {
  BatchPtr batch;
  std::size_t index = 0;  // in the batch
};

// The newest events of the session in these tasks (newest task first), ascending, at most `limit`.
Result<std::vector<SessionEvent>> events_of_session(const EventStore& store, const std::vector<TaskRow>& tasks,
                                                    const std::string& session, std::size_t limit);

}  // namespace shepherd
