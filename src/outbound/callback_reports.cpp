#include "outbound/callback_reports.h"

#include <algorithm>

#include "outbound/callback_message.h"

namespace shepherd {

bool find_reports(const EventStore& store, const TaskRow& task, CallbackCursor& cursor,
                  std::vector<CallbackPlace>& found) {
  const std::string& id = task.spec.id;
  const auto& asked = task.spec.callback_events;
  std::uint64_t last = task.state.end_sequence != 0 ? task.state.end_sequence : task.state.last_sequence;
  while (cursor.through < last) {
    auto page = store.read(id, cursor.through, {});
    if (!page) return page.error().code == ErrorCode::not_found;
    if (page->batches.empty()) return true;
    for (const BatchPtr& batch : page->batches) {
      for (std::size_t i = 0; i < batch->size(); ++i) {
        std::uint64_t sequence = batch->first + i;
        if (batch->types[i] != EventType::status || sequence <= cursor.through || sequence > last) continue;
        std::string event = callback_event(batch->event(i), cursor.started);
        cursor.started = cursor.started || event == "started";
        if (std::ranges::find(asked, event) != asked.end()) found.push_back({id, sequence});
      }
      cursor.through = std::max(cursor.through, std::min(batch->last(), last));  // the log may be newer than the row
    }
  }
  return true;
}

Result<std::string> event_at(const EventStore& store, const std::string& task, std::uint64_t sequence) {
  if (sequence == 0) return std::string();
  auto page = store.read(task, sequence - 1, {1, 1});
  if (!page) return fail(page.error());
  if (page->batches.empty() || page->batches.front()->first > sequence) return std::string();
  const EventBatch& batch = *page->batches.front();
  return std::string(batch.event(static_cast<std::size_t>(sequence - batch.first)));
}

}  // namespace shepherd
