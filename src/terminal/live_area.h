// The lower end of a terminal: lines that stay are printed above an area that is drawn again and again, with the cursor
// in it. What is printed scrolls away like any output, so that the terminal's own scrolling and searching work.
// Threads: caller.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace shepherd {

struct ScreenArea {
  std::vector<std::string> rows;    // painted, each narrower than the terminal
  std::vector<std::size_t> widths;  // of the rows, in columns; the terminal breaks them when it becomes narrower
  std::size_t cursor_row = 0, cursor_column = 0;
  bool cursor = true;  // shown
};

// Writes to a terminal. After its end the cursor is on an empty line below what was printed.
class LiveArea {
 public:
  explicit LiveArea(int descriptor) : descriptor_(descriptor) {}
  ~LiveArea() { clear(); }
  LiveArea(const LiveArea&) = delete;
  LiveArea& operator=(const LiveArea&) = delete;

  struct Size {
    std::size_t columns = 80, lines = 24;
  };
  Size size() const;

  // Prints `lines` for good and draws the area below them. False: the terminal is gone.
  bool draw(const std::vector<std::string>& lines, const ScreenArea& area);
  void clear();
  // The terminal forgot its screen; draw() draws on an empty one.
  void clear_screen();

 private:
  std::string to_top() const;
  bool write(std::string_view bytes) const;

  const int descriptor_;
  ScreenArea shown_;
};

}  // namespace shepherd
