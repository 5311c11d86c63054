#include "store/sqlite/known_rows.h"

#include <utility>

#include "model/wire_json.h"
#include "store/limits.h"

namespace shepherd {

std::unexpected<Error> KnownRows::broken(Error error) {
  failed_ = true;
  return fail(std::move(error));
}

Result<bool> KnownRows::has_event_id(std::string_view event_id) {
  auto row = database_.use("SELECT 1 FROM event_key WHERE task = ? AND event_id = ?", head_.key, event_id);
  auto found = row.step();
  if (!found) return broken(std::move(found.error()));
  return *found;
}

Result<std::optional<std::string>> KnownRows::body_of_number(const std::string& producer, std::uint64_t number) {
  if (auto body = pending_.body_of_number(head_.id, producer, number)) return std::string(*body);
  if (!kept_row_ || kept_producer_ != producer || !kept_row_->holds(number)) {
    auto known = head_.producer_rows.find(producer);
    if (known == head_.producer_rows.end()) return std::nullopt;
    auto row = producer.empty() ? loose_row(number) : strict_row(known->second.key, number);
    if (!row) return broken(std::move(row.error()));
    if (!*row) return std::nullopt;
    if (auto done = keep(**row); !done) return broken(std::move(done.error()));
    kept_producer_ = producer;
  }
  return std::string(body_of(kept_.event(number - kept_row_->first_number)));
}

Result<void> KnownRows::keep(const Row& row) {
  kept_row_.reset();
  auto events = batch_row(database_, row.position);
  auto found = events.step();
  if (!found) return fail(std::move(found.error()));
  kept_.task = head_.id;
  if (auto read = read_batch(events, kept_); !read) return read;
  kept_row_ = row;
  return {};
}

Result<std::optional<KnownRows::Row>> KnownRows::first_of(std::int64_t producer, BatchWalk walk) {
  for (;;) {
    auto found = walk.next();
    if (!found) return fail(std::move(found.error()));
    if (!*found) return std::nullopt;
    const Statement& row = **found;
    if (row.null(kBatchProducer) || row.integer(kBatchProducer) != producer) continue;
    return Row{row.number(kBatchPosition), row.number(kBatchLast), row.number(kBatchProducerFirst),
               row.number(kBatchCount)};
  }
}

Result<std::optional<KnownRows::Row>> KnownRows::strict_row(std::int64_t producer, std::uint64_t number) {
  // Most repeats are of the newest events.
  std::uint64_t end = head_.head.state.last_sequence;
  auto newest = first_of(producer, BatchWalk::down(database_, head_.key, end, head_.unplaced));
  if (!newest || !*newest || (*newest)->holds(number)) return newest;
  // The producer's numbers rise with the log's, so a binary search over the log finds the batch.
  std::uint64_t low = 1, high = (*newest)->last;
  std::optional<Row> candidate;
  while (low < high) {
    std::uint64_t middle = low + (high - low) / 2;
    auto row = first_of(producer, BatchWalk::up(database_, head_.key, middle, head_.unplaced));
    if (!row) return row;
    if (*row && !(*row)->reaches(number)) {
      low = (*row)->last + 1;
    } else {
      candidate = *row;
      high = middle;
    }
  }
  return candidate && candidate->holds(number) ? candidate : std::nullopt;
}

Result<std::optional<KnownRows::Row>> KnownRows::loose_row(std::uint64_t number) {
  // A batch that starts lower cannot contain the number, because no batch is longer than this.
  std::uint64_t below = number > kMaxStoredBatchEvents ? number - kMaxStoredBatchEvents : 0;
  auto row = database_.use(
      "SELECT position, last, loose_first, count FROM run WHERE task = ? AND loose_first <= ? AND loose_first > ?"
      " ORDER BY loose_first DESC",
      head_.key, number, below);
  for (;;) {
    auto found = row.step();
    if (!found) return fail(std::move(found.error()));
    if (!*found) return std::nullopt;
    Row candidate{row.number(0), row.number(1), row.number(2), row.number(3)};
    if (candidate.holds(number)) return candidate;
  }
}

}  // namespace shepherd
