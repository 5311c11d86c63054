#include "model/event_type.h"

#include <array>

namespace shepherd {
namespace {

constexpr std::array<std::string_view, kEventTypes> kNames{
    "",       "session_start", "thinking", "output", "tool_call", "tool_result",    "error",   "finding",  "usage",
    "status", "approval",      "log",      "result", "command",   "command_result", "message", "eviction",
};

}  // namespace

EventType event_type(std::string_view name) {
  for (std::size_t i = 1; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<EventType>(i);
  }
  return EventType::other;
}

std::string_view name(EventType type) {
  return kNames[static_cast<std::size_t>(type)];
}

}  // namespace shepherd
