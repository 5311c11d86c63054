// What time does to a task: commands that were not taken expire, approvals without an answer are denied, a task that
// its runner should have ended long ago has timed out, a session whose hooks fell silent has ended. Pure over the task
// and the time, and every act is a transaction that looks again, so it happens once, however often it is asked for.
// Threads: value.
#pragma once

#include <cstdint>
#include <limits>

#include "base/result.h"
#include "model/task.h"
#include "steering/steering_config.h"
#include "store/event_store.h"

namespace shepherd {

inline constexpr std::int64_t kNeverMs = std::numeric_limits<std::int64_t>::max();

// When the next thing is due, wall time; kNeverMs when nothing is.
std::int64_t next_due_ms(const Task& task, const SteeringConfig& config);

// Writes what is due at now_ms. `taken`: a runner would take a command to the agent. not_found when there is no task.
Result<void> settle_overdue(WriteTxn& txn, const std::string& id, bool taken, const SteeringConfig& config,
                            std::int64_t now_ms);

// The first part of it alone, for a task that is not terminal: commands that were not taken in time expire.
bool has_expired_command(const Task& task, std::int64_t now_ms);
Result<void> expire_commands(WriteTxn& txn, const Task& task, std::int64_t now_ms);

}  // namespace shepherd
