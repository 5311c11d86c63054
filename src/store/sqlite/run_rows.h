// The rows of one task's log, in order. The table run_place says where they are. It is written for many runs of a task
// at once, because a commit that touched its own page of it for every task would write ten times as much; until then
// the places of the newest runs are in memory (WriterHeads, CommittedHeads) and are found again after a crash.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "store/event_run.h"
#include "store/sqlite/database.h"

namespace shepherd {

struct RunPlace {
  std::uint64_t last = 0;      // number of its last event
  std::uint64_t position = 0;  // its row
};

// Columns of a walk's rows.
inline constexpr int kRunPosition = 0;
inline constexpr int kRunLast = 1;
inline constexpr int kRunCount = 2;
inline constexpr int kRunReceived = 3;
inline constexpr int kRunProducer = 4;
inline constexpr int kRunProducerFirst = 5;
inline constexpr int kRunLooseFirst = 6;
inline constexpr int kRunLengths = 7;
inline constexpr int kRunEvents = 8;

// The row at a position, with those columns.
Statement run_row(Database& database, std::uint64_t position);

// Fills the run but for its task, which must be there, from such a row. internal/corrupt when it is not what was
// written.
Result<void> read_run(const Statement& row, EventRun& run);

// `newest` are the task's runs that the table may not have yet, ascending; it must outlive the walk. What was erased
// meanwhile is skipped. One walk of a connection at a time. Threads: its connection's.
class RunWalk {
 public:
  // From the run that holds or follows `number`, upward.
  static RunWalk up(Database& database, std::int64_t task, std::uint64_t number, std::span<const RunPlace> newest);
  // From the run that holds or precedes `number`, downward.
  static RunWalk down(Database& database, std::int64_t task, std::uint64_t number, std::span<const RunPlace> newest);

  // nullptr: there are no more. The row is valid until the next call.
  Result<const Statement*> next();

 private:
  enum class Stage { start, table, memory, over };
  RunWalk(Database& database, std::int64_t task, std::uint64_t number, std::span<const RunPlace> newest, bool upward)
      : database_(database), task_(task), number_(number), newest_(newest), upward_(upward) {}

  Result<void> start_down();
  Result<const Statement*> next_in_table();
  Result<const Statement*> next_in_memory();
  bool take_newest(RunPlace& place);

  Database& database_;
  std::int64_t task_;
  std::uint64_t number_;
  std::span<const RunPlace> newest_;  // still to come
  bool upward_;
  Stage stage_ = Stage::start;
  std::uint64_t seen_ = 0;  // upward: last number of the newest run given
  std::optional<Statement> row_;
};

// Runs that the table does not have, by task; each in order.
using UnplacedRuns = std::map<std::int64_t, std::vector<RunPlace>>;
Result<UnplacedRuns> unplaced_runs(Database& database);

}  // namespace shepherd
