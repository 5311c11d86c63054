#include "views/state_at.h"

#include <utility>

#include "journal/limits.h"
#include "store/batch_fold.h"
#include "store/limits.h"

namespace shepherd {

Result<TaskAt> task_at(const EventStore& store, const std::string& task, std::uint64_t sequence) {
  auto now = store.task(task);
  if (!now) return fail(now.error());
  TaskAt at;
  at.task.spec = std::move(now->spec);
  at.task.created_ms = now->created_ms;
  TaskState& state = at.task.state;
  if (sequence > now->state.last_sequence) {
    return fail(Error{
        ErrorCode::conflict,
        "cursor_ahead",
        "The log has only " + std::to_string(now->state.last_sequence) + " events.",
        {}}.with("lastSequence", static_cast<std::int64_t>(now->state.last_sequence)));
  }
  std::uint64_t first = now->state.first_sequence;
  if (sequence != 0 && sequence < first) {
    return fail(
        ErrorCode::gone, "event_dropped",
        "Event " + std::to_string(sequence) + " is no longer kept; the log starts with " + std::to_string(first) + ".");
  }
  at.whole = first <= 1;
  if (!at.whole) state.last_sequence = first - 1;
  while (state.last_sequence < sequence) {
    auto page = store.read(task, state.last_sequence, {kMaxPageEvents, kFeedReadBytes});
    if (!page) return fail(page.error());
    if (page->batches.empty()) break;
    if (page->first > state.last_sequence + 1) {  // retention just dropped events
      at.whole = false;
      state = {};
      state.last_sequence = page->first - 1;
    }
    for (const BatchPtr& batch : page->batches) {
      if (auto folded = fold_batch(state, *batch, sequence); !folded) return fail(folded.error());
    }
  }
  return at;
}

}  // namespace shepherd
