// Runs the servers that the bench measures. They end with the bench, even if it crashes.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace shepherd::bench {

// Owns a process: the destructor ends it (SIGTERM, then SIGKILL) and waits for it. The process leads a process group,
// so its own children end with it.
// Threads: caller.
class Process {
 public:
  struct Options {
    std::vector<std::string> arguments;  // the program first
    std::string error_file = {};         // file for its standard error
    int core = -1;
  };
  // unavailable/not_started.
  static Result<Process> start(const Options& options);
  // Runs `body` in a fork of this process, which must have only one thread.
  static Result<Process> fork_only(const std::function<void()>& body, int core);

  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;
  ~Process();

  pid_t pid() const { return pid_; }
  bool running();
  // Reads one line of its standard output; unavailable if it ends first or prints nothing in time.
  Result<std::string> read_line(double seconds);
  void stop();

 private:
  Process() = default;

  pid_t pid_ = -1;
  int out_ = -1;
  std::string unread_;
};

}  // namespace shepherd::bench
