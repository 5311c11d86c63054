// The operator's own program that prints a repository token, as a process. It never outlives the server, however the
// server ends: it runs in a process group of its own, whose first process (a fork of this one that only waits) ends the
// group when the kernel tells it that its parent is gone. Who leaves the group (setsid) is on their own.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace shepherd {

// Owns the group: no process of it is left when this goes out of scope. Threads: the one that started it, which must
// outlive it: for the kernel that thread is the parent.
class TokenCommand {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  // With standard output to `output`. unavailable/token_provider_failed: no process could be made.
  static Result<TokenCommand> start(std::vector<std::string> arguments, std::vector<std::string> environment,
                                    int output);
  TokenCommand(TokenCommand&& other) noexcept;
  TokenCommand& operator=(TokenCommand&&) = delete;
  ~TokenCommand();

  // The exit code (126, 127: it does not start; -1: a signal ended it). nullopt: it lives on at the deadline, or `stop`
  // became readable. Closing its output is not its end.
  std::optional<int> wait(int stop, Deadline deadline);

 private:
  explicit TokenCommand(pid_t group);
  int reap();

  pid_t group_;  // -1: moved away
  int gone_;     // readable when it has ended
  int status_ = 0;
  bool reaped_ = false;
};

// Waits until `fd` is readable. False: the deadline has passed, or `stop` (-1: none) is readable.
bool wait_readable(int fd, int stop, TokenCommand::Deadline deadline);

}  // namespace shepherd
