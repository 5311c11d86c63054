// A task's state after one of its events.
// Threads: any.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "store/event_store.h"

namespace shepherd {

struct TaskAt {
  Task task;
  // False if retention dropped the beginning of the log, so that the state lacks what happened there.
  bool whole = true;
};

// Folds the log through `sequence`; 0 is the task as it was created. Blocks, so call it from a worker thread.
// not_found/unknown_task; conflict/cursor_ahead with lastSequence; gone/event_dropped if that event is no longer kept.
Result<TaskAt> task_at(const EventStore& store, const std::string& task, std::uint64_t sequence);

}  // namespace shepherd
