// The state that the live checks share: the place with the scripted model, the settings of the agent, the report. Each
// check is one function and one run of the agent. Threads: caller.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "harness/live/live_check.h"
#include "harness/live/live_run.h"
#include "harness/live/scripted_place.h"

namespace shepherd::harness {

struct LiveTrial {
  const LiveOptions& options;
  Report& report;
  const ScriptedPlace& place;
  std::optional<bool> asks = {};           // whether this agent asks before it acts; known after the first run
  std::optional<Error> cannot_start = {};  // set if there is nothing to check

  std::string work(const std::string& name) const { return place.work() + "/" + name; }
  std::chrono::milliseconds run_wait() const { return options.answer * kLiveRunAnswers; }
  // Starts a run of a prompt that asks for this command. nullptr: cannot_start or the report says why.
  std::unique_ptr<LiveRun> begin(const std::string& check, const std::string& command, AgentMode mode);
  // Waits for a file that a command makes. Fails the check if it is not made in time.
  bool made(LiveRun& run, const std::string& check, const std::string& name);
  // Waits until the run has ended and judges what every run must do: it ends in that state, and nothing is left of it.
  std::optional<AgentOutcome> finish(LiveRun& run, const std::string& check, State wanted);
  // Sends a command and waits until it has settled. Fails the check if it was refused or has not settled.
  bool settles(LiveRun& run, const std::string& check, Command command);
  void keep_log(LiveRun& run, const std::string& check) const;
};

void live_command(LiveTrial& trial);
void live_approval(LiveTrial& trial);
void live_denial(LiveTrial& trial);
void live_interrupt(LiveTrial& trial);
void live_stop(LiveTrial& trial);

}  // namespace shepherd::harness
