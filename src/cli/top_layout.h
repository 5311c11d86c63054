// Lays out `shepherd top` as lines of a screen with colours. Pure functions, so that tests need no terminal.
// Threads: value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "cli/approval_view.h"
#include "cli/event_line.h"
#include "cli/top_model.h"
#include "terminal/output.h"

namespace shepherd {

struct ScreenSpan {
  std::size_t column = 0;
  std::string text;
  Color color = Color::plain;
};

struct ScreenLine {
  std::vector<ScreenSpan> spans;
  bool reversed = false;  // the selected row, or a bar
};

struct ScreenSize {
  std::size_t columns = 80, lines = 24;
};

// The content of the frame around list and log.
struct TopFrame {
  ScreenSize size;
  std::int64_t now_ms = 0;
  std::string notice;      // newest message or a question; empty: shows the keys
  std::string connection;  // empty: connected
  std::string input;       // the filter text being typed
  bool typing = false;
};

struct TopLog {
  std::string task, title;
  std::deque<EventLine> lines;  // newest last, at most kTopLogLines
  std::int64_t started_ms = 0;
  std::uint64_t last_sequence = 0;
  std::size_t back = 0;  // lines scrolled back from the end; 0: follows the log
};

std::vector<ScreenLine> list_screen(TopModel& model, const TopFrame& frame);
std::vector<ScreenLine> log_screen(const TopLog& log, const TopRow* row, const TopFrame& frame);
// An approval's full input, with a question in the notice. Adjusts `first` if nothing would be below it.
std::vector<ScreenLine> asked_screen(std::string_view title, const AskedInput& input, std::size_t& first,
                                     const TopFrame& frame);
std::vector<ScreenLine> help_screen(const TopFrame& frame);

std::string count_text(std::uint64_t count);  // "950", "12.3k", "4.1M"

}  // namespace shepherd
