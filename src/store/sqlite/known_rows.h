// The lookups of plan_append for one task: first in the running transaction's own batches, then in the rows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sqlite/database.h"
#include "store/append_plan.h"
#include "store/batch_builder.h"
#include "store/sqlite/batch_rows.h"
#include "store/sqlite/writer_heads.h"

namespace shepherd {

// Lives for one append. Threads: caller.
class KnownRows final : public KnownEvents {
 public:
  KnownRows(Database& database, const BatchBuilder& pending, const WriterHead& head)
      : database_(database), pending_(pending), head_(head) {}

  Result<std::optional<std::string>> body_of_number(const std::string& producer, std::uint64_t number) override;
  Result<bool> has_event_id(std::string_view event_id) override;

  // The database failed, so the whole transaction fails.
  bool failed() const { return failed_; }

 private:
  struct Row {
    std::uint64_t position, last, first_number, count;
    bool reaches(std::uint64_t number) const { return first_number + count > number; }
    bool holds(std::uint64_t number) const { return number >= first_number && reaches(number); }
  };
  Result<std::optional<Row>> strict_row(std::int64_t producer, std::uint64_t number);
  Result<std::optional<Row>> loose_row(std::uint64_t number);
  // The producer's first row in the walk.
  Result<std::optional<Row>> first_of(std::int64_t producer, BatchWalk walk);
  Result<void> keep(const Row& row);
  std::unexpected<Error> broken(Error error);

  Database& database_;
  const BatchBuilder& pending_;
  const WriterHead& head_;
  // The most recently found batch, because repeats come in series.
  std::optional<Row> kept_row_;
  std::string kept_producer_;
  EventBatch kept_;
  bool failed_ = false;
};

}  // namespace shepherd
