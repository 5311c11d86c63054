// The rows of one task's log, in order. The table run_place says where they are. It is written for many batches of a
// task at once, because a commit that touched its own page of it for every task would write ten times as much; until
// then the places of the newest batches are in memory (WriterHeads, CommittedHeads) and are found again after a crash.
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
  std::uint64_t last = 0;      // number of its last event
  std::uint64_t position = 0;  // its row
};

// Columns of a walk's rows.
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

// Fills the batch but for its task, which must be there, from such a row. internal/corrupt when it is not what was
// written.
Result<void> read_batch(const Statement& row, EventBatch& batch);

// `newest` are the task's batches that the table may not have yet, ascending; it must outlive the walk. What was erased
// meanwhile is skipped. One walk of a connection at a time. Threads: its connection's.
class BatchWalk {
 public:
  // From the batch that holds or follows `number`, upward.
  static BatchWalk up(Database& database, std::int64_t task, std::uint64_t number, std::span<const BatchPlace> newest);
  // From the batch that holds or precedes `number`, downward.
  static BatchWalk down(Database& database, std::int64_t task, std::uint64_t number,
                        std::span<const BatchPlace> newest);

  // nullptr: there are no more. The row is valid until the next call.
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
  std::span<const BatchPlace> newest_;  // still to come
  bool upward_;
  Stage stage_ = Stage::start;
  std::uint64_t seen_ = 0;  // upward: last number of the newest batch given
  std::optional<Statement> row_;
};

// Batches that the table does not have, by task; each in order.
using UnplacedBatches = std::map<std::int64_t, std::vector<BatchPlace>>;
Result<UnplacedBatches> unplaced_batches(Database& database);

}  // namespace shepherd
