// An agent started as a command with the address to listen on, and killed with its whole process group.
//
// The address replaces {address} in its arguments and is in SHEPHERD_AGENT_ADDRESS. tail() has the end of its output.
// Threads: caller.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "harness/output_tail.h"

namespace shepherd::harness {

Result<std::string> free_loopback_address();  // 127.0.0.1 with a currently unused port

class AgentCommand {
 public:
  static Result<AgentCommand> start(std::vector<std::string> arguments, const std::string& address);
  AgentCommand(AgentCommand&& other) noexcept;
  AgentCommand& operator=(AgentCommand&&) = delete;
  ~AgentCommand();  // kills the remaining processes

  void terminate() const;  // SIGTERM
  bool running() { return !wait_for_exit(std::chrono::milliseconds(0)); }
  bool wait_for_exit(std::chrono::milliseconds timeout);
  std::string exit_text() const;  // "exit code 1", "signal 11"; empty while it runs
  std::string tail() const { return output_.text(); }

 private:
  AgentCommand(pid_t pid, OutputTail output) : pid_(pid), output_(std::move(output)) {}
  pid_t pid_;
  OutputTail output_;
  std::optional<int> status_;  // from waitpid
};

}  // namespace shepherd::harness
