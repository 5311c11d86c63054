// Which agents there are here: those that are built in, and those of the configuration.
// Threads: value.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/run_request.h"
#include "config/config.h"

namespace shepherd {

// What a runner of this configuration can run when all it knows is the agent's name.
std::vector<std::string> runnable_agents(const Config& config);

// Whether the request's agent can be run here; invalid_argument says what to do.
Result<void> check_agent(const Config& config, const RunRequest& request);

// Whether its program is here: a task of an agent that is not installed would only fail, and stand in everybody's
// inbox.
Result<void> check_program(const Config& config, const RunRequest& request);

}  // namespace shepherd
