// The effects of time on a task: untaken commands expire, unanswered approvals are denied, a task that its runner
// should have ended has timed out, and a session whose hooks fell silent has ended. Pure over the task and the time.
// Every effect is a transaction that checks again, so it happens once, however often it is requested.
// Threads: value.
#pragma once

#include <cstdint>
#include <limits>

#include "base/result.h"
#include "model/task.h"
#include "steering/commands.h"
#include "steering/steering_config.h"
#include "store/event_store.h"

namespace shepherd {

inline constexpr std::int64_t kNeverMs = std::numeric_limits<std::int64_t>::max();

// Wall time of the next effect; kNeverMs if there is none.
std::int64_t next_due_ms(const TaskRow& task, const SteeringConfig& config);

// Writes the effects that are due at now_ms. not_found if there is no task.
Result<void> settle_overdue(WriteTxn& txn, const std::string& id, const SteeringConfig& config, std::int64_t now_ms);

// Only the first effect, for a task that is not terminal: untaken commands expire.
bool has_expired_command(const TaskRow& task, std::int64_t now_ms);
Result<void> expire_commands(WriteTxn& txn, const TaskRow& task, std::int64_t now_ms);

}  // namespace shepherd
