// One step of a task's work, as its session sees it: what an operator's commands, a lost lease and the task's deletion
// reach. An agent's run is one (agent_run.h).
#pragma once

#include <cstdint>
#include <string>

#include "model/command.h"

namespace shepherd {

// Why a step was ended from outside.
enum class EndCause : std::uint8_t { none, stopped, timed_out, over_budget, turns_used, lease_lost, deleted, shutdown };

// Threads: any.
class Step {
 public:
  Step() = default;
  virtual ~Step() = default;
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

  // Settles the command in the log, sooner or later.
  virtual void command(const Command& command) = 0;
  // The command has expired in the log; if it is still held, it must not be carried out.
  virtual void withdraw(const std::string& command_id) = 0;
  // Ends the step, or prevents its start. The first cause counts.
  virtual void end(EndCause cause, std::string message) = 0;
  // Goes to the last rung of the ladder at once.
  virtual void kill() = 0;
};

}  // namespace shepherd
