#include "store/batch_fold.h"

#include <string>

#include "json/write.h"
#include "model/task_fold.h"
#include "model/wire_json.h"

namespace shepherd {

Result<void> fold_batch(TaskState& state, const EventBatch& batch, std::uint64_t through) {
  for (std::size_t i = 0; i < batch.size(); ++i) {
    std::uint64_t sequence = batch.first + i;
    if (sequence <= state.last_sequence) continue;
    if (sequence > through) return {};
    if (sequence != state.last_sequence + 1) {
      return fail(ErrorCode::internal, "corrupt",
                  "The log of " + batch.task + " misses number " + std::to_string(state.last_sequence + 1) + ".");
    }
    auto event = parse_event(batch.event(i));
    if (!event) {
      return fail(ErrorCode::internal, "corrupt",
                  "Event " + std::to_string(sequence) + " of " + batch.task + " cannot be read.");
    }
    std::string quoted;
    append_json_string(quoted, event->summary);
    std::string_view summary = std::string_view(quoted).substr(1, quoted.size() - 2);
    fold(state, {.sequence = sequence,
                 .type = batch.types[i],
                 .received_ms = event->received_ms,
                 .summary = summary,
                 .body = body_of(batch.event(i)),
                 .late = event->late,
                 .by_server = batch.by_server});
    if (state.first_sequence == 0) state.first_sequence = sequence;
  }
  return {};
}

}  // namespace shepherd
