#include "views/state_at.h"

#include <algorithm>
#include <utility>

#include "journal/limits.h"
#include "store/batch_fold.h"
#include "store/limits.h"
#include "views/limits.h"

namespace shepherd {

Result<void> StateScan::begin() {
  if (++beginnings_ > kMaxScanBeginnings) {
    return fail(ErrorCode::internal, "corrupt",
                "The log of " + task_ + " misses events before number " + std::to_string(sequence_) +
                    ". Run `shepherd doctor`.");
  }
  auto now = store_.task(task_);
  if (!now) return fail(now.error());
  const std::uint64_t last = now->state.last_sequence;
  if (sequence_ > last) {
    return fail(
        Error{ErrorCode::conflict, "cursor_ahead", "The log has only " + std::to_string(last) + " events.", {}}.with(
            "lastSequence", static_cast<std::int64_t>(last)));
  }
  first_ = now->state.first_sequence == 0 ? last + 1 : now->state.first_sequence;
  at_ = {};
  at_.task.spec = std::move(now->spec);
  at_.task.created_ms = now->created_ms;
  begun_ = true;
  if (sequence_ == last) {
    at_.task.state = std::move(now->state);
    return {};
  }
  if (sequence_ != 0 && sequence_ < first_) {
    return fail(ErrorCode::gone, "event_dropped",
                "Event " + std::to_string(sequence_) + " is no longer kept; the log starts with " +
                    std::to_string(first_) + ".");
  }
  at_.whole = first_ <= 1;
  if (!at_.whole) at_.task.state.last_sequence = first_ - 1;
  last_checkpoint_ = at_.task.state.last_sequence;
  return jump();
}

// Goes on from the newest checkpoint, if it is beyond what was folded. Another scan may have left one meanwhile.
Result<void> StateScan::jump() {
  look_again_ = false;
  auto checkpoint = store_.checkpoint(task_, sequence_);
  if (!checkpoint) return fail(checkpoint.error());
  if (!*checkpoint) return {};
  TaskState& state = at_.task.state;
  std::uint64_t place = (*checkpoint)->state.last_sequence;
  if (place < state.last_sequence || (place == state.last_sequence && at_.whole)) return {};
  state = std::move((*checkpoint)->state);
  at_.whole = (*checkpoint)->whole;
  last_checkpoint_ = place;
  return {};
}

Result<void> StateScan::fold_page(const Page& page, std::uint64_t through) {
  TaskState& state = at_.task.state;
  const std::uint64_t before = state.last_sequence;
  for (const BatchPtr& batch : page.batches) {
    if (auto folded = fold_batch(state, *batch, through); !folded) return fail(folded.error());
  }
  events_read_ += state.last_sequence - before;
  return {};
}

Result<bool> StateScan::step() {
  TaskState& state = at_.task.state;
  if (!begun_) {
    if (auto begun = begin(); !begun) return fail(begun.error());
  } else if (look_again_) {
    if (auto jumped = jump(); !jumped) return fail(jumped.error());
  }
  if (state.last_sequence < sequence_) {
    auto page = store_.read(task_, state.last_sequence, {kMaxPageEvents, kFeedReadBytes});
    if (!page) return fail(page.error());
    if (page->batches.empty() || page->first > state.last_sequence + 1) {  // retention just dropped events
      begun_ = false;
      return false;
    }
    // Ends at the place of a checkpoint, so that all scans leave theirs at the same places.
    const std::uint64_t place = (state.last_sequence / kCheckpointEvents + 1) * kCheckpointEvents;
    if (auto folded = fold_page(*page, std::min(sequence_, place)); !folded) return fail(folded.error());
    if (state.last_sequence == place && place - last_checkpoint_ >= kCheckpointEvents) {
      missing_ = {state, at_.whole};
      last_checkpoint_ = place;
      look_again_ = true;
    }
  }
  if (state.last_sequence < sequence_) return false;
  if (state.last_sequence >= first_) state.first_sequence = first_;
  return true;
}

}  // namespace shepherd
