// Checks one agent: opens streams to it, steers it as an operator would, and checks everything it sends.
//
// Its task has a goal in words and `"conformance": […]`, a list of features that the harness would like to see. The
// agent may show them then, or ignore the list. A feature that is not shown is a warning, a violation is a failure
// (report.h). test_agent() fails only if the agent cannot be reached at all. Threads: caller.
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
  AgentTarget target;                     // empty address with a command: a free port
  std::vector<std::string> command = {};  // starts the agent; empty: checks an agent that already runs
  std::chrono::milliseconds answer = kAgentAnswer;
  std::chrono::milliseconds run = kAgentRun;
  std::function<void(const std::string&)> progress = {};  // called with what is tried next
  std::string warden_program = "/proc/self/exe";          // see AgentSpec
};

Result<Report> test_agent(const HarnessOptions& options);

}  // namespace shepherd::harness
