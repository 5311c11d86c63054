// The event types that this version knows. An unknown type is kept as `other`, with its own name in the JSON.
// Threads: value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace shepherd {

enum class EventType : std::uint8_t {
  other,
  session_start,
  thinking,
  output,
  tool_call,
  tool_result,
  error,
  finding,
  usage,
  status,
  approval,
  log,
  result,
  command,
  command_result,
  message,
  eviction,
};
inline constexpr std::size_t kEventTypes = 17;

using TypeMask = std::uint32_t;
constexpr TypeMask mask_of(EventType type) {
  return TypeMask{1} << static_cast<unsigned>(type);
}

EventType event_type(std::string_view name);  // other for unknown names
std::string_view name(EventType type);        // "" for other

}  // namespace shepherd
