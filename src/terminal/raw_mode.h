// A terminal that gives every key at once and unchanged, and marks pasted text. The destructor restores it.
// Threads: caller.
#pragma once

#include <termios.h>

#include <optional>

namespace shepherd {

class RawMode {
 public:
  RawMode();  // standard input and output; does nothing unless both are terminals
  ~RawMode();
  RawMode(const RawMode&) = delete;
  RawMode& operator=(const RawMode&) = delete;

  static bool possible();
  void leave();  // for as long as the process is stopped
  void enter();

 private:
  std::optional<termios> before_;
};

}  // namespace shepherd
