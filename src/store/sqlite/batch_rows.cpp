#include "store/sqlite/batch_rows.h"

#include <algorithm>
#include <string>

#include "store/batch_codec.h"

namespace shepherd {

namespace {

// In the order of kBatchPosition and the constants after it.
const std::string kColumns =
    "SELECT run.position, run.last, run.count, run.received_last, run.producer, run.producer_first, run.loose_first,"
    " run.lengths, run.events FROM ";
const std::string kPlaced =
    kColumns + "run_place CROSS JOIN run ON run.position = run_place.position WHERE run_place.task = ?";
const std::string kUpward = kPlaced + " AND run_place.last >= ? ORDER BY run_place.last";
const std::string kDownward = kPlaced + " AND run_place.last <= ? ORDER BY run_place.last DESC";
const std::string kOne = kColumns + "run WHERE run.position = ?";

}  // namespace

Statement batch_row(Database& database, std::uint64_t position) {
  return database.use(kOne.c_str(), position);
}

Result<void> read_batch(const Statement& row, EventBatch& batch) {
  std::uint64_t count = row.number(kBatchCount);
  batch.position = row.number(kBatchPosition) - count + 1;
  batch.first = row.number(kBatchLast) - count + 1;
  batch.received_ms = row.integer(kBatchReceived);
  if (auto decoded = decode_batch(row.bytes(kBatchLengths), row.bytes(kBatchEvents), batch); !decoded) return decoded;
  if (batch.size() == count) return {};
  return fail(ErrorCode::internal, "corrupt",
              "The row of the events up to " + row.text(kBatchLast) + " of " + batch.task +
                  " says another number of them than its index. Run `shepherd doctor`.");
}

BatchWalk BatchWalk::up(Database& database, std::int64_t task, std::uint64_t number,
                        std::span<const BatchPlace> newest) {
  return {database, task, number, newest, true};
}

BatchWalk BatchWalk::down(Database& database, std::int64_t task, std::uint64_t number,
                          std::span<const BatchPlace> newest) {
  return {database, task, number, newest, false};
}

Result<const Statement*> BatchWalk::next() {
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

Result<void> BatchWalk::start_down() {
  std::optional<std::uint64_t> holder;  // last number of the batch on disk that contains or follows number_
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
    auto follows = std::ranges::lower_bound(newest_, number_, {}, &BatchPlace::last);
    auto wanted = static_cast<std::size_t>(follows - newest_.begin());
    newest_ = newest_.first(std::min(wanted + 1, newest_.size()));
    if (!newest_.empty()) number_ = newest_.front().last - 1;  // the table continues here
  }
  stage_ = Stage::memory;
  return {};
}

Result<const Statement*> BatchWalk::next_in_table() {
  auto found = row_->step();
  if (!found) return fail(std::move(found.error()));
  if (*found) {
    seen_ = row_->number(kBatchLast);
    return &*row_;
  }
  row_.reset();
  stage_ = upward_ ? Stage::memory : Stage::over;
  return next();
}

bool BatchWalk::take_newest(BatchPlace& place) {
  while (!newest_.empty()) {
    place = upward_ ? newest_.front() : newest_.back();
    newest_ = upward_ ? newest_.subspan(1) : newest_.first(newest_.size() - 1);
    if (!upward_ || place.last > seen_) return true;
  }
  return false;
}

Result<const Statement*> BatchWalk::next_in_memory() {
  for (BatchPlace place; take_newest(place);) {
    row_.reset();
    row_.emplace(batch_row(database_, place.position));
    auto found = row_->step();
    if (!found) return fail(std::move(found.error()));
    if (*found) return &*row_;
  }
  row_.reset();
  stage_ = upward_ ? Stage::over : Stage::table;
  if (!upward_) row_.emplace(database_.use(kDownward.c_str(), task_, number_));
  return next();
}

Result<UnplacedBatches> unplaced_batches(Database& database) {
  UnplacedBatches batches;
  auto row = database.use(
      "SELECT run.task, run.last, run.position FROM run LEFT JOIN run_place"
      " ON run_place.task = run.task AND run_place.last = run.last"
      " WHERE run.position > (SELECT value FROM meta WHERE name = 'placed_through') AND run_place.position IS NULL"
      " ORDER BY run.position");
  for (;;) {
    auto found = row.step();
    if (!found) return fail(std::move(found.error()));
    if (!*found) return batches;
    batches[row.integer(0)].push_back({row.number(1), row.number(2)});
  }
}

}  // namespace shepherd
