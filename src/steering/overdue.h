// What time itself does to a task: commands that nobody took expire, approvals that nobody gave are denied, a task that
// its runner should have ended long ago has timed out. Pure over the task and the time, and every act is a transaction
// that looks again, so whoever asks, however often, it happens once.
// Threads: value.
#pragma once

#include <cstdint>
#include <limits>

#include "base/result.h"
#include "model/redact.h"
#include "model/task.h"
#include "store/event_store.h"

namespace shepherd {

inline constexpr std::int64_t kNeverMs = std::numeric_limits<std::int64_t>::max();

// When the next thing is due, wall time; kNeverMs when nothing is.
std::int64_t next_due_ms(const Task& task, std::int64_t grace_seconds);

// Writes what is due at now_ms. `taken`: somebody would take a command to the agent. not_found when there is no task.
Result<void> settle_overdue(WriteTxn& txn, const std::string& id, bool taken, std::int64_t grace_seconds,
                            std::int64_t now_ms);

}  // namespace shepherd
