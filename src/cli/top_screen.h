// The terminal as a full screen, by ncurses: lines out, keys in. Gives the terminal back when it goes.
//
// Owns the one screen a process can have. Threads: caller; the thread that made it.
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
// Characters are themselves.
constexpr TopKey key_of(char character) {
  return static_cast<TopKey>(character);
}

class TopScreen {
 public:
  // invalid_argument/no_terminal when standard input or output is none, or its kind is not known.
  static Result<TopScreen> open(bool colored);
  TopScreen(TopScreen&& other) noexcept;
  TopScreen& operator=(TopScreen&&) = delete;
  ~TopScreen();

  ScreenSize size() const;
  void draw(const std::vector<ScreenLine>& lines);
  // A key that is there already; none: there is none.
  TopKey key();
  // Ctrl-Z: gives the terminal back until the process goes on.
  void suspend();

 private:
  TopScreen() = default;
  bool owns_ = true;
};

}  // namespace shepherd
