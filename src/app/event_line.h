// One event as one readable line. All text of it is an agent's and is made harmless first.
// Threads: value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "app/output.h"

namespace shepherd {

struct EventLine {
  std::uint64_t sequence = 0;
  std::int64_t timestamp_ms = 0;
  std::string word;  // short name of the type
  std::string text;
  Color color = Color::plain;
};

// An event that cannot be read is shown as it is.
EventLine event_line(std::string_view event_json);

// The line as it is printed: number, `when`, type, text.
std::string painted_line(const Output& out, const EventLine& line, std::string_view when);

}  // namespace shepherd
