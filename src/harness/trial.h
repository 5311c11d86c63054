// The state that scenarios share: the agent under test, the time limits and the report. Each scenario is one function.
// It opens its own streams and passes their transcripts to the rules. Threads: caller.
#pragma once

#include <memory>
#include <optional>

#include "harness/agent_command.h"
#include "harness/harness.h"
#include "harness/limits.h"
#include "harness/rules.h"

namespace shepherd::harness {

struct Trial {
  const HarnessOptions& options;
  Report& report;
  std::shared_ptr<AgentChannel> channel = {};
  std::unique_ptr<AgentCommand> command = {};
  std::optional<Error> refused = {};  // set if the agent refuses all streams, so there is nothing to check
  bool silent = false;                // the agent did not answer a start in time, so it would not answer the next one
  std::string address = {};           // of the newest connect()

  Result<void> connect(const std::string& to);  // starts the command, if there is one
  // True if the command has ended; its streams are then not to blame for what they show.
  bool agent_is_gone() { return command && command->wait_for_exit(kAgentTooQuick); }
  // Called for every stream that ended. A crashing process loses its connections before it exits. After a broken stream
  // this gives it time to exit, so that the next scenario does not meet the old process.
  void saw_end(const Transcript& transcript);
  std::string start_message(gibson::agent::AgentMode mode) const;  // serialized, in the agent's dialect
  // Starts a run and waits for its first message. If it returns false, the report says why the stream cannot be used.
  bool begin(AgentStream& stream, gibson::agent::AgentMode mode = gibson::agent::AGENT_MODE_AUTONOMOUS);
  // Waits until the agent ends the stream; false if it does not in time. Half-closes our side after the agent's
  // terminal status.
  bool wait_for_own_end(AgentStream& stream);
  // Waits until the agent ends the stream, then applies the rules.
  void run_to_end(AgentStream& stream);
  // Whether this agent's runs are already known not to end; then a short wait is enough.
  bool runs_do_not_end() const;
  std::chrono::milliseconds end_wait() const { return runs_do_not_end() ? kAgentQuiet : options.run; }
  void look(AgentStream& stream) {
    saw_end(stream.transcript());
    check_rules(stream.transcript(), report);
  }
};

// scenarios_run.cpp
void whole_run(Trial& trial);
void steering(Trial& trial);
void probes(Trial& trial);
// scenarios_pause.cpp
void interrupt_and_resume(Trial& trial);
void close_while_interrupted(Trial& trial);
void mode_switch(Trial& trial);
// scenarios_refusal.cpp
void bad_first_message(Trial& trial);
void bad_task(Trial& trial);
// scenarios_end.cpp; a command has ended after each of them
void shut_down(Trial& trial);
void cancelled(Trial& trial);

}  // namespace shepherd::harness
