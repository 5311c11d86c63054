#include "driver/pending.h"

#include <array>
#include <utility>

#include "driver/event_json.h"
#include "json/write.h"

namespace shepherd {

std::string_view name(PendingAsk::Kind kind) {
  constexpr std::array<std::string_view, 3> kNames{"permission", "question", "plan"};
  return kNames[static_cast<std::size_t>(kind)];
}

const PendingAsk* PendingAsks::find(std::string_view id) const {
  auto found = open_.find(id);
  return found == open_.end() ? nullptr : &found->second;
}

std::optional<PendingAsk> PendingAsks::close(std::string_view id) {
  auto found = open_.find(id);
  if (found == open_.end()) return std::nullopt;
  return std::move(open_.extract(found).mapped());
}

std::string PendingAsks::of_call(std::string_view call_id) const {
  for (const auto& [id, ask] : open_) {
    if (ask.call_id == call_id) return id;
  }
  return {};
}

void PendingAsks::decided(std::string_view call_id, std::string command_id) {
  if (!call_id.empty()) decisions_.insert_or_assign(std::string(call_id), std::move(command_id));
}

std::optional<std::string> PendingAsks::take_decision(std::string_view call_id) {
  auto found = decisions_.find(call_id);
  if (found == decisions_.end()) return std::nullopt;
  return std::move(decisions_.extract(found).mapped());
}

std::string closed_ask_data(std::string_view id, const PendingAsk& ask, std::string_view state,
                            std::string_view message) {
  return object_text([&](JsonObject& object) {
    object.text("approvalID", id);
    object.text("state", state);
    object.text("kind", name(ask.kind));
    object.text("tool", ask.tool);
    object.text_unless_empty("message", event_text(message));
  });
}

}  // namespace shepherd
