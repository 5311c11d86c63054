// A task as it was after one of its events.
// Threads: any.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "store/event_store.h"

namespace shepherd {

struct TaskAt {
  Task task;
  bool whole = true;  // false: retention took the beginning of the log, so what happened there is not in the state
};

// Folds the log through `sequence`; 0 is the task as it was created. Blocks: from a worker thread.
// not_found/unknown_task; conflict/cursor_ahead with lastSequence; gone/event_dropped when that event is no longer
// kept.
Result<TaskAt> task_at(const EventStore& store, const std::string& task, std::uint64_t sequence);

}  // namespace shepherd
