// The rows of one task's log, in order. The table run_place maps a task's batches to their rows. It is written for many
// batches of a task together, because a commit that wrote a page of it for every task would write ten times as much.
// Until then the places of the newest batches are in memory (WriterHeads, CommittedHeads) and are recovered after a
// crash.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "sqlite/database.h"
#include "store/event_batch.h"

namespace shepherd {

struct BatchPlace {
  std::uint64_t last = 0;      // number of the batch's last event
  std::uint64_t position = 0;  // key of the batch's row
};

// Columns of the rows that a walk returns.
inline constexpr int kBatchPosition = 0;
inline constexpr int kBatchLast = 1;
inline constexpr int kBatchCount = 2;
inline constexpr int kBatchReceived = 3;
inline constexpr int kBatchProducer = 4;
inline constexpr int kBatchProducerFirst = 5;
inline constexpr int kBatchLooseFirst = 6;
inline constexpr int kBatchLengths = 7;
inline constexpr int kBatchEvents = 8;

// The row at a position, with those columns.
Statement batch_row(Database& database, std::uint64_t position);

// Fills the batch from such a row, except for its task, which the caller sets. internal/corrupt if the bytes are not
// those that were written.
Result<void> read_batch(const Statement& row, EventBatch& batch);

// `newest` lists the task's batches that may be missing in the table, ascending; it must outlive the walk. Batches
// erased meanwhile are skipped. A connection supports one walk at a time. Threads: its connection's.
class BatchWalk {
 public:
  // Walks upward from the batch that contains or follows `number`.
  static BatchWalk up(Database& database, std::int64_t task, std::uint64_t number, std::span<const BatchPlace> newest);
  // Walks downward from the batch that contains or precedes `number`.
  static BatchWalk down(Database& database, std::int64_t task, std::uint64_t number,
                        std::span<const BatchPlace> newest);

  // nullptr at the end. The row is valid until the next call.
  Result<const Statement*> next();

 private:
  enum class Stage { start, table, memory, over };
  BatchWalk(Database& database, std::int64_t task, std::uint64_t number, std::span<const BatchPlace> newest,
            bool upward)
      : database_(database), task_(task), number_(number), newest_(newest), upward_(upward) {}

  Result<void> start_down();
  Result<const Statement*> next_in_table();
  Result<const Statement*> next_in_memory();
  bool take_newest(BatchPlace& place);

  Database& database_;
  std::int64_t task_;
  std::uint64_t number_;
  std::span<const BatchPlace> newest_;  // not visited yet
  bool upward_;
  Stage stage_ = Stage::start;
  std::uint64_t seen_ = 0;  // upward: last number of the most recent batch returned
  std::optional<Statement> row_;
};

// Batches that are missing in the table, by task; each list is in order.
using UnplacedBatches = std::map<std::int64_t, std::vector<BatchPlace>>;
Result<UnplacedBatches> unplaced_batches(Database& database);

}  // namespace shepherd
