// `shepherd agent test` for agents that Shepherd starts itself: the check of the Agent Client Protocol, and the live
// check of an agent that it knows. Threads: caller.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/result.h"
#include "cli/agent_report.h"
#include "config/agent_entry.h"

namespace shepherd {

struct AgentCheckRequest {
  std::string name;                                 // a known agent's, or empty
  std::string driver;                               // of a live check
  ProgramAgent program;                             // its command, and what is added to its environment
  std::optional<std::chrono::milliseconds> answer;  // nullopt: the check's own
  AgentReportForm form;
};

// With a name that has a recipe it works with the scripted model, else as its own settings say.
Result<ExitCode> run_acp_check(Context& context, const AgentCheckRequest& request);

// Whether run_live_check() knows this agent.
bool has_live_check(const std::string& name);
Result<ExitCode> run_live_check(Context& context, const AgentCheckRequest& request);

}  // namespace shepherd
