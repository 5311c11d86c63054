// Checks one agent: opens streams to it, does to it what an operator does, and looks at everything it says.
//
// The task it gives has a goal in words and `"conformance": […]`, the things the harness would like to see; an agent
// may show them on that occasion, or ignore it. What it does not show is a warning, what it does wrong is a failure
// (report.h). Fails only when the agent cannot be reached at all. Threads: caller.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "harness/agent_stream.h"
#include "harness/limits.h"
#include "harness/report.h"

namespace shepherd::harness {

struct HarnessOptions {
  AgentTarget target;                     // address empty with a command: a free port
  std::vector<std::string> command = {};  // starts the agent; without it, one that runs already is checked
  std::chrono::milliseconds answer = kAgentAnswer;
  std::chrono::milliseconds run = kAgentRun;
  std::function<void(const std::string&)> progress = {};  // what is being tried now
};

Result<Report> test_agent(const HarnessOptions& options);

}  // namespace shepherd::harness
