// One event as one readable line. All text of it is an agent's: what it printed or said is made harmless, what it wants
// to do is shown to the last character (terminal_text.h).
// Threads: value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "terminal/output.h"

namespace shepherd {

struct EventLine {
  std::uint64_t sequence = 0;
  std::int64_t timestamp_ms = 0;
  std::string word;  // short name of the type
  std::string text;
  Color color = Color::plain;
  // Of what an agent said or printed: all that the event has of it, with its line breaks; empty otherwise.
  std::string body;
  std::string cut;         // the member of the event's detail that has all of it; empty: the event does
  bool is_answer = false;  // the agent itself says it, not one of its sub-agents
  bool asks = false;       // an approval that nobody has decided yet
  bool passing = false;    // it is overtaken by a later one and needs no line: what a turn that is not over has used
};

// An event that cannot be read is shown as it is.
EventLine event_line(std::string_view event_json);

// The line as it is printed: number, `when`, type, text.
std::string painted_line(const Output& out, const EventLine& line, std::string_view when);
std::size_t head_columns(const EventLine& line, std::string_view when);  // before the text

}  // namespace shepherd
