// Formats one event as a readable line. All its text comes from an agent: output is escaped for the terminal, and a
// request is shown to the last character (terminal_text.h).
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
  // The agent's full text or output in the event, with line breaks; empty for other events.
  std::string body;
  std::string cut;         // member of the event's detail that has the full text; empty: the event has it
  bool is_answer = false;  // said by the agent itself, not by a sub-agent
  bool asks = false;       // an undecided approval
  // Replaced by a later event, so it needs no line: for example, usage before a turn has ended.
  bool passing = false;
};

// Shows an unreadable event unchanged.
EventLine event_line(std::string_view event_json);

// The printed line: number, `when`, type, text.
std::string painted_line(const Output& out, const EventLine& line, std::string_view when);
std::size_t head_columns(const EventLine& line, std::string_view when);  // columns before the text

}  // namespace shepherd
