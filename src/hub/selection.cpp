#include "hub/selection.h"

#include <algorithm>

#include "model/task_fold.h"
#include "model/wire_json.h"

namespace shepherd {

std::string_view raw_type_name(std::string_view event_json) {
  // Every quote inside a JSON string is escaped, so the first `"type":"` is the member itself.
  constexpr std::string_view kMember = "\"type\":\"";
  auto at = event_json.find(kMember);
  if (at == std::string_view::npos) return {};
  auto rest = event_json.substr(at + kMember.size());
  return rest.substr(0, rest.find('"'));
}

bool Selection::takes_event(const EventBatch& batch, std::size_t i) const {
  if (types.everything()) return true;
  EventType type = batch.types[i];
  if (type != EventType::other) return (types.known & mask_of(type)) != 0;
  if (types.unknown.empty()) return false;
  auto type_name = raw_type_name(batch.event(i));
  return std::find(types.unknown.begin(), types.unknown.end(), type_name) != types.unknown.end();
}

bool Selection::takes_any(const EventBatch& batch) const {
  if (!takes_task(batch.task)) return false;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (takes_event(batch, i)) return true;
  }
  return false;
}

bool ends_task(const EventBatch& batch, std::size_t i) {
  return batch.types[i] == EventType::status && is_terminal(end_state_of(batch.types[i], body_of(batch.event(i))));
}

}  // namespace shepherd
