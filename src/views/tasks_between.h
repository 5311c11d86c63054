// The tasks in whose logs something happened during a time: where a point of a chart leads.
// Threads: any.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "store/event_store.h"

namespace shepherd {

struct TimeRange {
  std::int64_t from_ms = 0, to_ms = 0;  // of receivedAt; `to` excluded
};

// As EventStore::tasks(filter), but only tasks with an event in the range. Blocks: from a worker thread. Exact: a task
// that began before and ended after is looked up in its log.
Result<std::vector<Task>> tasks_between(const EventStore& store, TaskFilter filter, TimeRange range);

}  // namespace shepherd
