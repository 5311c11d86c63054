#include "store/run_fold.h"

#include <string>

#include "json/write.h"
#include "model/task_fold.h"
#include "model/wire_json.h"

namespace shepherd {

Result<void> fold_run(TaskState& state, const EventRun& run, std::uint64_t through) {
  for (std::size_t i = 0; i < run.size(); ++i) {
    std::uint64_t sequence = run.first + i;
    if (sequence <= state.last_sequence) continue;
    if (sequence > through) return {};
    if (sequence != state.last_sequence + 1) {
      return fail(ErrorCode::internal, "corrupt",
                  "The log of " + run.task + " misses number " + std::to_string(state.last_sequence + 1) + ".");
    }
    auto event = parse_event(run.event(i));
    if (!event) {
      return fail(ErrorCode::internal, "corrupt",
                  "Event " + std::to_string(sequence) + " of " + run.task + " cannot be read.");
    }
    std::string quoted;
    append_json_string(quoted, event->summary);
    std::string_view summary = std::string_view(quoted).substr(1, quoted.size() - 2);
    fold(state, {.sequence = sequence,
                 .type = run.types[i],
                 .received_ms = event->received_ms,
                 .summary = summary,
                 .body = body_of(run.event(i)),
                 .late = event->late,
                 .by_server = run.by_server});
    if (state.first_sequence == 0) state.first_sequence = sequence;
  }
  return {};
}

}  // namespace shepherd
