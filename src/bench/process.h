// Programs that the bench starts: servers to measure. It ends exactly what it started, also when it dies itself.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace shepherd::bench {

// Owns a process: the destructor ends it (SIGTERM, then SIGKILL) and waits for it. It is the leader of a process group,
// so its own children end with it.
// Threads: caller.
class Process {
 public:
  struct Options {
    std::vector<std::string> arguments;  // the program first
    std::string error_file = {};         // where its standard error goes
    int core = -1;
  };
  // unavailable/not_started.
  static Result<Process> start(const Options& options);
  // Runs `body` in a fork of this process, which must have one thread only.
  static Result<Process> fork_only(const std::function<void()>& body, int core);

  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;
  ~Process();

  pid_t pid() const { return pid_; }
  bool running();
  // One line of its standard output; unavailable when it ends first or says nothing for so long.
  Result<std::string> read_line(double seconds);
  void stop();

 private:
  Process() = default;

  pid_t pid_ = -1;
  int out_ = -1;
  std::string unread_;
};

}  // namespace shepherd::bench
