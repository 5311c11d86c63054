// `shepherd top` as lines of a screen: what is where, in which colour. Pure, so that it is tested without a terminal.
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
  bool reversed = false;  // the chosen row, a bar
};

struct ScreenSize {
  std::size_t columns = 80, lines = 24;
};

// What the frame around list and log says.
struct TopFrame {
  ScreenSize size;
  std::int64_t now_ms = 0;
  std::string notice;      // newest news, or a question; empty: the keys are shown
  std::string connection;  // empty: connected
  std::string input;       // of the filter that is being typed
  bool typing = false;
};

struct TopLog {
  std::string task, title;
  std::deque<EventLine> lines;  // newest last, at most kTopLogLines
  std::int64_t started_ms = 0;
  std::uint64_t last_sequence = 0;
  std::size_t back = 0;  // lines scrolled back from the end; 0: follows
};

std::vector<ScreenLine> list_screen(TopModel& model, const TopFrame& frame);
std::vector<ScreenLine> log_screen(const TopLog& log, const TopRow* row, const TopFrame& frame);
// All that an approval asks for, behind a question in the notice; `first` is moved where there is nothing below it.
std::vector<ScreenLine> asked_screen(std::string_view title, const AskedInput& input, std::size_t& first,
                                     const TopFrame& frame);
std::vector<ScreenLine> help_screen(const TopFrame& frame);

std::string count_text(std::uint64_t count);  // "950", "12.3k", "4.1M"

}  // namespace shepherd
