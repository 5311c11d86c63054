#include "store/sqlite/run_rows.h"

#include <algorithm>
#include <string>

#include "store/run_codec.h"

namespace shepherd {

namespace {

// In the order of kRunPosition and the others.
const std::string kColumns =
    "SELECT run.position, run.last, run.count, run.received_last, run.producer, run.producer_first, run.loose_first,"
    " run.lengths, run.events FROM ";
const std::string kPlaced =
    kColumns + "run_place CROSS JOIN run ON run.position = run_place.position WHERE run_place.task = ?";
const std::string kUpward = kPlaced + " AND run_place.last >= ? ORDER BY run_place.last";
const std::string kDownward = kPlaced + " AND run_place.last <= ? ORDER BY run_place.last DESC";
const std::string kOne = kColumns + "run WHERE run.position = ?";

}  // namespace

Statement run_row(Database& database, std::uint64_t position) {
  return database.use(kOne.c_str(), position);
}

Result<void> read_run(const Statement& row, EventRun& run) {
  std::uint64_t count = row.number(kRunCount);
  run.position = row.number(kRunPosition) - count + 1;
  run.first = row.number(kRunLast) - count + 1;
  run.received_ms = row.integer(kRunReceived);
  if (auto decoded = decode_run(row.bytes(kRunLengths), row.bytes(kRunEvents), run); !decoded) return decoded;
  if (run.size() == count) return {};
  return fail(ErrorCode::internal, "corrupt",
              "The row of the events up to " + row.text(kRunLast) + " of " + run.task +
                  " says another number of them than its index. Run `shepherd doctor`.");
}

RunWalk RunWalk::up(Database& database, std::int64_t task, std::uint64_t number, std::span<const RunPlace> newest) {
  return {database, task, number, newest, true};
}

RunWalk RunWalk::down(Database& database, std::int64_t task, std::uint64_t number, std::span<const RunPlace> newest) {
  return {database, task, number, newest, false};
}

Result<const Statement*> RunWalk::next() {
  if (stage_ == Stage::start) {
    if (upward_) {
      row_.emplace(database_.use(kUpward.c_str(), task_, number_));
      seen_ = number_ == 0 ? 0 : number_ - 1;
      stage_ = Stage::table;
    } else if (auto started = start_down(); !started) {
      return fail(std::move(started.error()));
    }
  }
  if (stage_ == Stage::table) return next_in_table();
  if (stage_ == Stage::memory) return next_in_memory();
  return nullptr;
}

Result<void> RunWalk::start_down() {
  std::optional<std::uint64_t> holder;  // the run on disk that holds or follows the number
  {
    auto row =
        database_.use("SELECT last FROM run_place WHERE task = ? AND last >= ? ORDER BY last LIMIT 1", task_, number_);
    auto found = row.step();
    if (!found) return fail(std::move(found.error()));
    if (*found) holder = row.number(0);
  }
  if (holder) {
    newest_ = {};
    number_ = *holder;
  } else {
    auto follows = std::ranges::lower_bound(newest_, number_, {}, &RunPlace::last);
    auto wanted = static_cast<std::size_t>(follows - newest_.begin());
    newest_ = newest_.first(std::min(wanted + 1, newest_.size()));
    if (!newest_.empty()) number_ = newest_.front().last - 1;  // where the table goes on
  }
  stage_ = Stage::memory;
  return {};
}

Result<const Statement*> RunWalk::next_in_table() {
  auto found = row_->step();
  if (!found) return fail(std::move(found.error()));
  if (*found) {
    seen_ = row_->number(kRunLast);
    return &*row_;
  }
  row_.reset();
  stage_ = upward_ ? Stage::memory : Stage::over;
  return next();
}

bool RunWalk::take_newest(RunPlace& place) {
  while (!newest_.empty()) {
    place = upward_ ? newest_.front() : newest_.back();
    newest_ = upward_ ? newest_.subspan(1) : newest_.first(newest_.size() - 1);
    if (!upward_ || place.last > seen_) return true;
  }
  return false;
}

Result<const Statement*> RunWalk::next_in_memory() {
  for (RunPlace place; take_newest(place);) {
    row_.reset();
    row_.emplace(run_row(database_, place.position));
    auto found = row_->step();
    if (!found) return fail(std::move(found.error()));
    if (*found) return &*row_;
  }
  row_.reset();
  stage_ = upward_ ? Stage::over : Stage::table;
  if (!upward_) row_.emplace(database_.use(kDownward.c_str(), task_, number_));
  return next();
}

Result<UnplacedRuns> unplaced_runs(Database& database) {
  UnplacedRuns runs;
  auto row = database.use(
      "SELECT run.task, run.last, run.position FROM run LEFT JOIN run_place"
      " ON run_place.task = run.task AND run_place.last = run.last"
      " WHERE run.position > (SELECT value FROM meta WHERE name = 'placed_through') AND run_place.position IS NULL"
      " ORDER BY run.position");
  for (;;) {
    auto found = row.step();
    if (!found) return fail(std::move(found.error()));
    if (!*found) return runs;
    runs[row.integer(0)].push_back({row.number(1), row.number(2)});
  }
}

}  // namespace shepherd
