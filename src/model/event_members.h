// The top-level members of an event as a producer sent it: split, checked, still source text.
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

// Up to and including duration_ms in the order in which a body has them.
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

// Slices point into the event's text or into `spelled`. One object serves many events, one after the other.
struct EventMembers {
  std::array<std::string_view, kMembers> known;  // empty: absent or null
  std::vector<UnknownMember> unknown;            // in their order
  std::deque<std::string> spelled;               // names that came with needless escapes, spelled plainly

  std::string_view operator[](Member member) const { return known[static_cast<std::size_t>(member)]; }
  // Splits the compact, valid JSON object that `json` starts with and checks the members it knows. The object's length,
  // or an error that names the member.
  Result<std::size_t> read(std::string_view json);
};

}  // namespace shepherd
