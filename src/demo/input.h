// The agent's input: lines on standard input, SIGINT and SIGTERM, and the output of a command it runs.
//
// Owns: a signal descriptor. Both signals are blocked, so the agent notices them only when it waits here.
// Threads: caller.
#pragma once

#include <cstdint>
#include <string>

namespace scripted {

std::int64_t monotonic_ns();
std::int64_t wall_ns();

class Input {
 public:
  static constexpr std::int64_t kForever = -1;

  struct Arrival {
    enum class Kind : std::uint8_t { line, end, signal, readable, time };
    Kind kind = Kind::time;
    std::string line;
    int signal = 0;
  };

  Input();

  // The next arrival before `deadline_ns` of the monotonic clock. Without `listen`, standard input stays unread. If
  // `descriptor` is given, also waits until it is readable.
  Arrival wait(std::int64_t deadline_ns, bool listen = true, int descriptor = -1);

  // All of standard input, for a prompt passed that way.
  std::string read_all();

 private:
  bool fill();

  int signals_;
  std::string buffer_;
  bool ended_ = false, end_told_ = false;
};

}  // namespace scripted
