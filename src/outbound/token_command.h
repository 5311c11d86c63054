// Runs the operator's own program that prints a repository token. The program never outlives the server, however the
// server ends: it runs in its own process group, whose first process (a fork of this one that only waits) kills the
// group when the kernel signals the death of its parent. A process that leaves the group (setsid) is not covered.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace shepherd {

// Owns the group: none of its processes is left when this goes out of scope. Threads: the one that started it, which
// must outlive it, because for the kernel that thread is the parent.
class TokenCommand {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  // Starts with standard output to `output`. unavailable/token_provider_failed if no process could be created.
  static Result<TokenCommand> start(std::vector<std::string> arguments, std::vector<std::string> environment,
                                    int output);
  TokenCommand(TokenCommand&& other) noexcept;
  TokenCommand& operator=(TokenCommand&&) = delete;
  ~TokenCommand();

  // Returns the exit code (126, 127 if it does not start; -1 if a signal ended it), or nullopt if it still runs at the
  // deadline or `stop` became readable. Closing its output is not its end.
  std::optional<int> wait(int stop, Deadline deadline);

 private:
  explicit TokenCommand(pid_t group);
  int reap();

  pid_t group_;  // -1 if moved away
  int gone_;     // readable once it has ended
  int status_ = 0;
  bool reaped_ = false;
};

// Waits until `fd` is readable. Returns false if the deadline has passed or `stop` (-1 for none) is readable.
bool wait_readable(int fd, int stop, TokenCommand::Deadline deadline);

}  // namespace shepherd
