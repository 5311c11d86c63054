#include "views/tasks_between.h"

#include <utility>

#include "base/limits.h"
#include "model/wire_json.h"
#include "store/task_match.h"

namespace shepherd {
namespace {

// When the first kept event with this number or a later one was received; 0 if there is none.
Result<std::int64_t> received_ms(const EventStore& store, const std::string& task, std::uint64_t sequence) {
  auto page = store.read(task, sequence - 1, {1, 1});
  if (!page) return fail(page.error());
  if (page->batches.empty()) return 0;
  const EventBatch& batch = *page->batches.front();
  std::size_t index = sequence > batch.first ? static_cast<std::size_t>(sequence - batch.first) : 0;
  auto event = parse_event(batch.event(index));
  if (!event) return fail(event.error());
  return event->received_ms;
}

Result<bool> has_event(const EventStore& store, const TaskRow& task, TimeRange range) {
  const TaskState& state = task.state;
  if (state.last_sequence == 0 || state.first_sequence == 0) return false;
  if (task.created_ms >= range.to_ms || state.last_event_ms < range.from_ms) return false;
  if (state.last_event_ms < range.to_ms) return true;
  // receivedAt never decreases within a log, so a binary search finds the first event that is not before the range.
  std::uint64_t low = state.first_sequence;
  std::uint64_t high = state.last_sequence;
  while (low < high) {
    std::uint64_t middle = low + (high - low) / 2;
    auto at_ms = received_ms(store, task.spec.id, middle);
    if (!at_ms) return fail(at_ms.error());
    if (*at_ms < range.from_ms) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  auto at_ms = received_ms(store, task.spec.id, low);
  if (!at_ms) return fail(at_ms.error());
  return *at_ms >= range.from_ms && *at_ms < range.to_ms;
}

}  // namespace

Result<std::vector<TaskRow>> tasks_between(const EventStore& store, TaskFilter filter, TimeRange range) {
  std::vector<TaskRow> found;
  std::size_t wanted = std::exchange(filter.limit, kMaxTaskPage);
  for (;;) {
    auto page = store.rows(filter);
    if (!page) return fail(page.error());
    for (TaskRow& task : *page) {
      filter.before = place_after(task);
      auto inside = has_event(store, task, range);
      if (!inside && inside.error().code == ErrorCode::not_found) continue;  // deleted meanwhile
      if (!inside) return fail(inside.error());
      if (*inside) found.push_back(std::move(task));
      if (found.size() == wanted) return found;
    }
    if (page->size() < filter.limit) return found;
  }
}

}  // namespace shepherd
