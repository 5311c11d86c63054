#include "store/postgres/batch_rows.h"

#include <memory>

#include "store/batch_codec.h"

namespace shepherd {

Result<BatchPtr> batch_in(const PostgresRows& rows, std::size_t row, const std::string& task) {
  auto batch = std::make_shared<EventBatch>();
  std::uint64_t count = rows.number(row, 2);
  batch->task = task;
  batch->position = rows.number(row, kBatchPositionColumn) - count + 1;
  batch->first = rows.number(row, kBatchLastColumn) - count + 1;
  batch->received_ms = rows.integer(row, 3);
  auto decoded = decode_batch(rows.bytes(row, 4), rows.bytes(row, 5), *batch);
  if (!decoded) return fail(std::move(decoded.error()));
  if (batch->size() == count) return batch;
  return fail(ErrorCode::internal, "corrupt",
              "The row of the events up to " + std::to_string(batch->last()) + " of " + task +
                  " says another number of them than its index. Run `shepherd doctor`.");
}

}  // namespace shepherd
