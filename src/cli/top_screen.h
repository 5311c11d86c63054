// A full-screen terminal using ncurses: writes lines, reads keys. The destructor restores the terminal.
//
// Owns the only screen of the process. Threads: caller; the thread that created it.
#pragma once

#include <vector>

#include "base/result.h"
#include "cli/top_layout.h"

namespace shepherd {

enum class TopKey : int {
  none = -1,
  other = -2,
  up = -3,
  down = -4,
  page_up = -5,
  page_down = -6,
  home = -7,
  end = -8,
  enter = -9,
  escape = -10,
  backspace = -11,
  stop = -12,  // F9
  resized = -13,
  quit = -14,  // Ctrl-C
};
// A character key has its own code.
constexpr TopKey key_of(char character) {
  return static_cast<TopKey>(character);
}

class TopScreen {
 public:
  // invalid_argument/no_terminal if standard input or output is not a terminal, or its type is unknown.
  static Result<TopScreen> open(bool colored);
  TopScreen(TopScreen&& other) noexcept;
  TopScreen& operator=(TopScreen&&) = delete;
  ~TopScreen();

  ScreenSize size() const;
  void draw(const std::vector<ScreenLine>& lines);
  // A key that was already pressed; none if there is none.
  TopKey key();
  // Ctrl-Z: restores the terminal until the process continues.
  void suspend();

 private:
  TopScreen() = default;
  bool owns_ = true;
};

}  // namespace shepherd
