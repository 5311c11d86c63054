// Keys and end signals of a person at the terminal, for commands that go on while they listen.
//
// Owns the terminal's input mode (a key counts at once and is not echoed) and gives it back when it goes, however the
// command ends: SIGINT, SIGTERM and SIGHUP are taken as keys here instead of ending the process. Without a terminal on
// standard input there are only the signals.
// Threads: caller; make it before other threads, which would otherwise take the signals.
#pragma once

#include <termios.h>

#include <chrono>
#include <csignal>
#include <optional>

namespace shepherd {

class TerminalKeys {
 public:
  static constexpr int kNone = 0;  // the time is over
  static constexpr int kEnd = -1;  // Ctrl-C, or the system wants the process to end

  TerminalKeys();
  ~TerminalKeys();
  TerminalKeys(const TerminalKeys&) = delete;
  TerminalKeys& operator=(const TerminalKeys&) = delete;

  bool listens() const { return before_.has_value(); }

  // The next key (a character; of an arrow or function key only the escape), kEnd, or kNone after `most`.
  // nullopt: waits for ever.
  int wait(std::optional<std::chrono::milliseconds> most);

 private:
  void apply();
  int read_key();
  int read_signal();

  sigset_t signals_{};
  sigset_t signals_before_{};
  int signal_descriptor_ = -1;
  std::optional<termios> before_;  // set: standard input is a terminal in our mode
  bool input_ended_ = false;
};

}  // namespace shepherd
