// Reads from a task's log what its callbacks tell.
// Threads: any. Blocking.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "outbound/callback_record.h"
#include "store/event_store.h"

namespace shepherd {

// Adds the reports after the cursor that the task asks for, and moves the cursor. Returns false if the log cannot be
// read.
bool find_reports(const EventStore& store, const TaskRow& task, CallbackCursor& cursor,
                  std::vector<CallbackPlace>& found);

// Returns one event of a log, or an empty text if it is no longer kept.
Result<std::string> event_at(const EventStore& store, const std::string& task, std::uint64_t sequence);

}  // namespace shepherd
