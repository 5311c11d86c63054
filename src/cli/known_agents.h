// The agents available here: those that Shepherd knows by name and those of the configuration.
// Threads: value.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/run_request.h"
#include "config/agent_entry.h"
#include "config/config.h"
#include "driver/driver.h"

namespace shepherd {

// How the agent of this name is run: the entry of the configuration, or what is known of it. nullopt for an unknown
// name, and for the drivers `text` and `grpc`, which need a command or an address.
std::optional<AgentEntry> agent_entry(const Config& config, const std::string& name);

// The program that has the sessions of the agent, by the names of registry/known_agent.h; empty if unknown.
std::string session_keeper_of(const Config& config, const std::string& agent);

// The names of all agents, the default agent first.
std::vector<std::string> agent_names(const Config& config);

// The agents that a runner of this configuration offers to the server: those that are installed, and the default agent,
// whose failure says how to install it.
std::vector<std::string> runnable_agents(const Config& config);

// Whether the request's agent can run here; invalid_argument says what to do.
Result<void> check_agent(const Config& config, const RunRequest& request);

// Whether the agent's program is installed. Without it the task would only fail and appear in every inbox.
Result<void> check_program(const Config& config, const RunRequest& request);

// The program's path, as its process will find it: a name in PATH, or a path relative to the directory. Empty if there
// is none.
std::string find_program(const std::string& program, const RunRequest& request);

// What the program says of its version; empty if it says none. Blocks for at most kVersionTimeout.
std::string version_of_program(const Driver& driver, const std::string& program);

}  // namespace shepherd
