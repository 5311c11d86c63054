// What a task says of an agent, in the words of OpenCode's configuration, for both ways of starting it.
// Threads: value.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "driver/driver.h"

namespace shepherd {

// invalid_argument for what would read as an option, or when there is nothing to do.
Result<void> check_opencode_launch(const Launch& launch);

// Configuration for the variable OPENCODE_CONFIG_CONTENT, which goes before the person's and the project's own: the
// task's MCP servers, and what it may do. `{}` when the task says nothing of it. invalid_argument for servers that are
// none.
Result<std::string> opencode_configuration(const Launch& launch);

// The prompt with the rules and the context, for which there is no place of their own.
std::string opencode_prompt(const Launch& launch);

std::vector<EnvironmentEntry> opencode_environment(const std::string& configuration);
std::vector<std::string> opencode_version_command(const std::string& program);
std::vector<std::string> opencode_state_paths(const Driver::Variable& variable);

}  // namespace shepherd
