// Folds stored events again, to rebuild state that a store had only in memory, or to check what it wrote.
// Threads: value.
#pragma once

#include <cstdint>
#include <limits>

#include "base/result.h"
#include "model/task.h"
#include "store/event_batch.h"

namespace shepherd {

// Applies the batch's events after state.last_sequence up to and including `through`. internal/corrupt if an event
// cannot be read or a number is missing.
Result<void> fold_batch(TaskState& state, const EventBatch& batch,
                        std::uint64_t through = std::numeric_limits<std::uint64_t>::max());

}  // namespace shepherd
