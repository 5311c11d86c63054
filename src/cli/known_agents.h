// The agents available here: the built-in ones and those of the configuration.
// Threads: value.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/run_request.h"
#include "config/config.h"

namespace shepherd {

// The agents that a runner of this configuration can run by name alone.
std::vector<std::string> runnable_agents(const Config& config);

// Whether the request's agent can run here; invalid_argument says what to do.
Result<void> check_agent(const Config& config, const RunRequest& request);

// Whether the agent's program is installed. Without it the task would only fail and appear in every inbox.
Result<void> check_program(const Config& config, const RunRequest& request);

}  // namespace shepherd
