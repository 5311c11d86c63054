// The tasks of an agent that have not ended, however many there are. At a start each of them may need something.
// Threads: any; blocks on reads of the store.
#pragma once

#include <functional>
#include <string_view>

#include "base/result.h"
#include "store/event_store.h"

namespace shepherd {

Result<void> each_active_task(const EventStore& store, std::string_view agent,
                              const std::function<void(const TaskRow&)>& take);

}  // namespace shepherd
