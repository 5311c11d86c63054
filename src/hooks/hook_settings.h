// Adds, finds and removes Shepherd's hooks in Claude Code's settings. Everything outside the `hooks` member stays byte
// for byte the same.
//
// A hook runs a command instead of posting directly: a command can spool on disk while the server is down, prints
// nothing to the agent, and keeps the token out of the settings.
// Threads: value.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace shepherd {

// The command line of a hook: the program, `hook send`, and the given options.
std::string hook_command(std::string_view program, std::string_view options);

// Returns the settings with each of our hooks once, with this command. Empty text means no settings yet. Returns the
// same text if nothing changes. invalid_argument/bad_settings if it is not an object or its hooks do not have the
// agent's format.
Result<std::string> with_hooks(std::string_view settings, std::string_view command);

// Returns the settings without our hooks and without the empty lists they leave.
Result<std::string> without_hooks(std::string_view settings);

}  // namespace shepherd
