#include "store/sqlite/checkpoints.h"

#include "model/task_fold.h"

namespace shepherd {

Result<void> insert_checkpoint(Database& database, std::int64_t task, const Checkpoint& checkpoint) {
  std::string state = encode_task_state(checkpoint.state);
  return database
      .use("INSERT OR IGNORE INTO checkpoint(task, sequence, whole, state) VALUES(?, ?, ?, ?)", task,
           checkpoint.state.last_sequence, std::uint64_t{checkpoint.whole}, state)
      .run();
}

Result<std::optional<Checkpoint>> read_checkpoint(Database& database, std::int64_t task, std::uint64_t at) {
  auto row = database.use(
      "SELECT sequence, whole, state FROM checkpoint WHERE task = ? AND sequence <= ? ORDER BY sequence DESC LIMIT 1",
      task, at);
  auto found = row.step();
  if (!found) return fail(std::move(found.error()));
  if (!*found) return std::nullopt;
  Checkpoint checkpoint{decode_task_state(row.bytes(2)), row.number(1) != 0};
  if (checkpoint.state.last_sequence != row.number(0)) return std::nullopt;
  return checkpoint;
}

Result<void> erase_checkpoints(Database& database, std::int64_t task, std::uint64_t sequence) {
  return database.use("DELETE FROM checkpoint WHERE task = ? AND sequence < ?", task, sequence).run();
}

}  // namespace shepherd
