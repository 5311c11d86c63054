// The hooks of Shepherd in Claude Code's settings: put in, found again and taken out, with everything else in the file
// left as it is, byte for byte outside of the `hooks` member.
//
// Hooks run a command rather than post by themselves: a command can wait on disk while the server is away, says nothing
// to the agent whatever happens, and keeps the token out of the settings.
// Threads: value.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace shepherd {

// The command line of a hook: the program, `hook send`, and options as given.
std::string hook_command(std::string_view program, std::string_view options);

// The settings with our hooks, once each, with this command. Empty text: no settings yet. The same text comes back when
// nothing is to be changed. invalid_argument/bad_settings when it is not an object, or its hooks are not as the agent
// knows them.
Result<std::string> with_hooks(std::string_view settings, std::string_view command);

// The settings without our hooks, nor the empty lists they leave.
Result<std::string> without_hooks(std::string_view settings);

}  // namespace shepherd
