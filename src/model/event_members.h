// The top-level members of an event as its producer sent it: split and checked, but still source text.
// Threads: value.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace shepherd {

// The members up to and including duration_ms are in the order in which they appear in a body.
enum class Member : std::uint8_t {
  timestamp,
  type,
  summary,
  tool,
  input,
  output,
  metadata,
  data,
  call_id,
  parent_call_id,
  session_id,
  trace_id,
  span_id,
  duration_ms,
  cut,
  version,
  sequence,
  event_id,
  detail,
  received_at,
  late,
  producer,
};
inline constexpr std::size_t kMembers = 22;
std::string_view name(Member member);

struct UnknownMember {
  std::string_view key;  // escaped, without quotes
  std::string_view value;
};

// The slices point into the event's text or into `spelled`. One object is reused for many events.
struct EventMembers {
  std::array<std::string_view, kMembers> known;  // empty: absent or null
  std::vector<UnknownMember> unknown;            // in their original order
  std::deque<std::string> spelled;               // unescaped names of members whose names came with escapes

  std::string_view operator[](Member member) const { return known[static_cast<std::size_t>(member)]; }
  // Splits the compact, valid JSON object at the start of `json` and checks the known members. Returns the object's
  // length, or an error that names the member.
  Result<std::size_t> read(std::string_view json);
};

}  // namespace shepherd
