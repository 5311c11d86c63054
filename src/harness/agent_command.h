// An agent started as a command with the address to listen on, and ended with all of its processes.
//
// The address replaces {address} in its arguments and is in SHEPHERD_AGENT_ADDRESS. tail() has the end of its output.
// Owns the processes through an AgentProcess, which ends them also when this process dies.
// Threads: any for what AgentObserver has; caller for the rest.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "process/agent_process.h"

namespace shepherd::harness {

Result<std::string> free_loopback_address();  // 127.0.0.1 with a port that is free now

class AgentCommand final : public AgentObserver {
 public:
  // Errors are those of AgentProcess::start().
  static Result<std::unique_ptr<AgentCommand>> start(std::vector<std::string> arguments, const std::string& address,
                                                     const std::string& warden_program);

  void terminate();  // SIGTERM
  bool running() { return !wait_for_exit(std::chrono::milliseconds(0)); }
  bool wait_for_exit(std::chrono::milliseconds timeout) EXCLUDES(mutex_);
  std::string exit_text() const EXCLUDES(mutex_);  // "exit code 1", "signal 11"; empty while it runs
  std::string tail() EXCLUDES(mutex_);             // the newest kStderrTailBytes printed so far

  void on_output(shepherd::AgentStream stream, std::string_view bytes) override EXCLUDES(mutex_);
  void on_exit(const AgentExit& exit) override EXCLUDES(mutex_);
  void on_end(const AgentEnd& end) override;

 private:
  AgentCommand() = default;

  SystemClock clock_;
  mutable Mutex mutex_;
  CondVar exited_;
  std::optional<AgentExit> exit_ GUARDED_BY(mutex_);
  std::string tail_ GUARDED_BY(mutex_);
  std::unique_ptr<AgentProcess> process_;  // last: its thread uses all of the above
};

}  // namespace shepherd::harness
