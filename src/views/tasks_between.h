// The tasks with events in a range of time, for the link behind a point of a chart.
// Threads: any.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "store/event_store.h"

namespace shepherd {

struct TimeRange {
  std::int64_t from_ms = 0, to_ms = 0;  // receivedAt; `to` excluded
};

// Like EventStore::tasks(filter), but only tasks with an event in the range. Exact: reads the log of a task that
// started before the range and ended after it. Blocks, so call it from a worker thread.
Result<std::vector<TaskRow>> tasks_between(const EventStore& store, TaskFilter filter, TimeRange range);

}  // namespace shepherd
