// Reads keys and end signals from a person at the terminal, for commands that keep working meanwhile.
//
// Owns the terminal's input mode (keys arrive immediately and are not echoed) and restores it in the destructor.
// SIGINT, SIGTERM and SIGHUP are read as keys instead of ending the process, so the mode is restored however the
// command ends. If standard input is not a terminal, only the signals work.
// Threads: caller; create it before other threads, which would otherwise receive the signals.
#pragma once

#include <termios.h>

#include <chrono>
#include <csignal>
#include <optional>

namespace shepherd {

class TerminalKeys {
 public:
  static constexpr int kNone = 0;  // the time is over
  static constexpr int kEnd = -1;  // Ctrl-C, or the system asks the process to end

  TerminalKeys();
  ~TerminalKeys();
  TerminalKeys(const TerminalKeys&) = delete;
  TerminalKeys& operator=(const TerminalKeys&) = delete;

  bool listens() const { return before_.has_value(); }

  // The next key (a character; only the escape of an arrow or function key), kEnd, or kNone after `most`. nullopt waits
  // forever.
  int wait(std::optional<std::chrono::milliseconds> most);

 private:
  void apply();
  int read_key();
  int read_signal();

  sigset_t signals_{};
  sigset_t signals_before_{};
  int signal_descriptor_ = -1;
  std::optional<termios> before_;  // set if standard input is a terminal in our mode
  bool input_ended_ = false;
};

}  // namespace shepherd
