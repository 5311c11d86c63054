// What the scenarios share: the agent under test, the time limits and the report. Each scenario is one function; it
// opens its own streams and leaves its transcripts to the rules. Threads: caller.
#pragma once

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
  std::optional<AgentCommand> command = {};
  std::optional<Error> refused = {};  // why no stream of ours will be taken: then there is nothing to check
  bool silent = false;                // a start was not answered in time: neither would be the next ones
  std::string address = {};           // of the newest connect()

  Result<void> connect(const std::string& to);  // starts the command, if there is one
  // True when the command has ended: what its streams then show is no fault of theirs.
  bool agent_is_gone() { return command && command->wait_for_exit(kAgentTooQuick); }
  // Called for every stream that ended. A process that crashes loses its connections before it is gone: after a stream
  // that broke it is given time to be gone, or the next scenario would be spoiled by the agent of this one.
  void saw_end(const Transcript& transcript);
  std::string task_json() const;
  // Starts a run and waits for its first message. False: it noted why it cannot be used.
  bool begin(AgentStream& stream, gibson::agent::AgentMode mode = gibson::agent::AGENT_MODE_AUTONOMOUS);
  // False: the agent has not brought the stream to its end in time. Our side ends once the agent has said how it went.
  bool wait_for_own_end(AgentStream& stream);
  // Lets the agent bring a stream to its own end, then applies the rules.
  void run_to_end(AgentStream& stream);
  // Known of this agent: then a short look is enough, or each of its runs would be waited for.
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
// scenarios_end.cpp; with a command the agent has ended after each
void shut_down(Trial& trial);
void cancelled(Trial& trial);

}  // namespace shepherd::harness
