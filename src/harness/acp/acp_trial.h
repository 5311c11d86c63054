// The state that the scenarios share: the agent under test, its session and the report. Each scenario is one function.
// They run in order, over one process. Threads: caller.
#pragma once

#include <memory>
#include <string>

#include "harness/acp/acp_harness.h"
#include "harness/acp/acp_peer.h"

namespace shepherd::harness {

struct AcpTrial {
  const AcpHarnessOptions& options;
  Report& report;
  AcpPeer& peer;
  std::string directory;     // the session's
  std::string session = {};  // empty if there is none
  bool silent = false;       // a prompt was not answered in time, so the next one would not be either

  std::chrono::milliseconds turn_wait() const { return options.answer * kAcpTurnAnswers; }
  boost::json::object prompt(const std::string& text) const;
  // Runs one turn. nullopt, and a defect of `prompt`, if it does not end in time.
  std::optional<boost::json::object> run_turn(const std::string& text);
  std::string path(const std::string& name) const { return directory + "/" + name; }
};

// acp_scenarios.cpp
Result<void> initialize(AcpTrial& trial);
void unknown_things(AcpTrial& trial);
void unknown_session(AcpTrial& trial);
void relative_directory(AcpTrial& trial);
Result<void> new_session(AcpTrial& trial);
// acp_scenarios_turns.cpp
void plain_prompt(AcpTrial& trial);
void allowed_command(AcpTrial& trial);
void rejected_command(AcpTrial& trial);
void cancelled_command(AcpTrial& trial);
// acp_scenarios_end.cpp; the agent has ended after it
void end_of_input(AcpTrial& trial);

}  // namespace shepherd::harness
