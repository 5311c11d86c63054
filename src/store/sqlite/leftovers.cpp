#include "store/sqlite/leftovers.h"

#include <optional>

#include "base/assert.h"
#include "store/batch_codec.h"
#include "store/limits.h"

namespace shepherd {

namespace {

// Tables that have no more than small rows of a task.
constexpr const char* kSmallRows[] = {
    "DELETE FROM event_key WHERE (task, event_id) IN (SELECT task, event_id FROM event_key WHERE task = ? LIMIT ?)",
    "DELETE FROM producer WHERE key IN (SELECT key FROM producer WHERE task = ? LIMIT ?)",
    "DELETE FROM checkpoint WHERE (task, sequence) IN (SELECT task, sequence FROM checkpoint WHERE task = ? LIMIT ?)",
};

struct LeftoverBatch {
  std::uint64_t last = 0, position = 0, count = 0, bytes = 0;
};

class Piece {
 public:
  Piece(Database& database, EraseLimit limit) : database_(database), limit_(limit) {}

  Result<ErasedLeftovers> run() {
    for (;;) {
      auto task = next_task();
      if (!task) return fail(std::move(task.error()));
      erased_.more = task->has_value();
      if (!*task || full()) break;
      if (auto done = erase_task(**task); !done) return fail(std::move(done.error()));
    }
    erased_.any = rows_ > 0;
    return erased_;
  }

 private:
  bool full() const { return rows_ >= limit_.rows || bytes_ >= limit_.bytes; }

  Result<std::optional<std::int64_t>> next_task() {
    auto row = database_.use("SELECT task FROM leftover ORDER BY task LIMIT 1");
    auto found = row.step();
    if (!found) return fail(std::move(found.error()));
    if (!*found) return std::nullopt;
    return row.integer(0);
  }

  Result<void> erase_task(std::int64_t task) {
    while (!full()) {
      auto batch = next_batch(task);
      if (!batch) return fail(std::move(batch.error()));
      if (!*batch) return erase_small_rows(task);
      if (auto done = erase_batch(task, **batch); !done) return done;
    }
    return {};
  }

  Result<std::optional<LeftoverBatch>> next_batch(std::int64_t task) {
    auto row = database_.use(
        "SELECT run_place.last, run_place.position, run.count, run.lengths FROM run_place LEFT JOIN run"
        " ON run.position = run_place.position WHERE run_place.task = ? ORDER BY run_place.last LIMIT 1",
        task);
    auto found = row.step();
    if (!found) return fail(std::move(found.error()));
    if (!*found) return std::nullopt;
    auto index = read_index(row.bytes(3));
    // Damaged ones go, too.
    return LeftoverBatch{row.number(0), row.number(1), row.number(2), index ? index->bytes : kMaxStoredBatchBytes};
  }

  Result<void> erase_batch(std::int64_t task, const LeftoverBatch& batch) {
    auto details = erase_details(database_, batch.position - batch.count + 1, batch.position,
                                 {limit_.rows - rows_, limit_.bytes - bytes_});
    if (!details) return fail(std::move(details.error()));
    rows_ += details->rows;
    bytes_ += details->bytes;
    erased_.detail_bytes += details->freed;
    if (full()) return {};  // the batch leads to the rest of its details
    rows_ += 1;
    bytes_ += batch.bytes;
    auto done = database_.use("DELETE FROM run WHERE position = ? AND task = ?", batch.position, task).run();
    if (!done) return done;
    return database_.use("DELETE FROM run_place WHERE task = ? AND last = ?", task, batch.last).run();
  }

  Result<void> erase_small_rows(std::int64_t task) {
    for (const char* sql : kSmallRows) {
      if (full()) return {};
      std::uint64_t room = limit_.rows - rows_;
      if (auto done = database_.use(sql, task, room).run(); !done) return done;
      rows_ += static_cast<std::uint64_t>(sqlite3_changes64(database_.handle()));
    }
    if (full()) return {};
    ++rows_;
    return database_.use("DELETE FROM leftover WHERE task = ?", task).run();
  }

  Database& database_;
  const EraseLimit limit_;
  std::uint64_t rows_ = 0, bytes_ = 0;
  ErasedLeftovers erased_;
};

// One detail's content is used by one event less.
Result<void> release_blob(Database& database, std::int64_t blob, ErasedDetails& erased) {
  bool last = false;
  {
    auto row = database.use("SELECT refs, length(bytes) FROM blob WHERE key = ?", blob);
    auto found = row.step();
    if (!found) return fail(std::move(found.error()));
    if (!*found) return {};
    last = row.integer(0) <= 1;
    erased.bytes += row.number(1);
    if (last) erased.freed += row.number(1);
  }
  if (last) return database.use("DELETE FROM blob WHERE key = ?", blob).run();
  return database.use("UPDATE blob SET refs = refs - 1 WHERE key = ?", blob).run();
}

}  // namespace

Result<ErasedDetails> erase_details(Database& database, std::uint64_t first_position, std::uint64_t last_position,
                                    EraseLimit limit) {
  ErasedDetails erased;
  while (erased.rows < limit.rows && erased.bytes < limit.bytes) {
    std::int64_t blob = 0;
    {
      auto row =
          database.use("SELECT position, blob FROM detail WHERE position BETWEEN ? AND ? ORDER BY position LIMIT 1",
                       first_position, last_position);
      auto found = row.step();
      if (!found) return fail(std::move(found.error()));
      if (!*found) return erased;
      first_position = row.number(0);
      blob = row.integer(1);
    }
    auto done = database.use("DELETE FROM detail WHERE position = ?", first_position).run();
    if (done) done = release_blob(database, blob, erased);
    if (!done) return fail(std::move(done.error()));
    ++erased.rows;
  }
  return erased;
}

Result<ErasedLeftovers> erase_leftovers(Database& database, EraseLimit limit) {
  SHEPHERD_ASSERT(limit.rows > 0 && limit.bytes > 0, "a piece removes something");
  return Piece(database, limit).run();
}

}  // namespace shepherd
