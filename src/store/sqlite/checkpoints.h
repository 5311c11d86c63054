// A task's states after some of its events (table `checkpoint`).
// Threads: its connection's. Errors are the database's.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "sqlite/database.h"
#include "store/event_store.h"

namespace shepherd {

// Keeps the one that is already there for that event.
Result<void> insert_checkpoint(Database& database, std::int64_t task, const Checkpoint& checkpoint);
// The newest one at or before event `at`. A row that cannot be read counts as missing: the log has what it says.
Result<std::optional<Checkpoint>> read_checkpoint(Database& database, std::int64_t task, std::uint64_t at);
// Erases those of events before `sequence`.
Result<void> erase_checkpoints(Database& database, std::int64_t task, std::uint64_t sequence);

}  // namespace shepherd
