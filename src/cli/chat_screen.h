// The terminal of a conversation: lines that stay, and below them the unfinished answer, a line about what happens, and
// the prompt that is typed.
// Threads: caller.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "terminal/line_editor.h"
#include "terminal/live_area.h"
#include "terminal/styled_line.h"

namespace shepherd {

// Owns the part of the terminal below what was printed.
class ChatScreen {
 public:
  ChatScreen(int descriptor, bool colored) : area_(descriptor), colored_(colored) {}

  void print(std::vector<StyledLine> lines);
  // Draws what was printed since, and the lower end. `editor` is nullptr while nothing can be typed. False: the
  // terminal is gone.
  bool draw(const std::vector<StyledLine>& unfinished, const StyledLine& status, const LineEditor* editor);
  void clear() { area_.clear(); }
  void clear_screen() { area_.clear_screen(); }
  bool waiting() const { return !lines_.empty(); }

 private:
  LiveArea area_;
  const bool colored_;
  std::vector<StyledLine> lines_;  // printed with the next draw()
};

}  // namespace shepherd
