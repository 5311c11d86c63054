// Rows of the table `batch`, as the reads and the writer select them.
// Threads: value. Errors: internal/corrupt, which names the task and the events.
#pragma once

#include "base/result.h"
#include "postgres/rows.h"
#include "store/event_batch.h"

namespace shepherd {

// The columns come first; others may follow from kAfterBatch on.
#define SHEPHERD_BATCH_COLUMNS \
  "batch.position, batch.last, batch.count, batch.received_last, batch.lengths, batch.events"
inline constexpr int kBatchPositionColumn = 0, kBatchLastColumn = 1, kAfterBatch = 6;

Result<BatchPtr> batch_in(const PostgresRows& rows, std::size_t row, const std::string& task);

}  // namespace shepherd
