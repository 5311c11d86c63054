// The environment of commands that a model runs. Threads: value.
#pragma once

#include <string>
#include <vector>

namespace shepherd {

// What of this process's environment (NAME=value) a command gets: not what is Shepherd's own, not the variables named
// `secret`, not those whose names say that they hold a secret (KEY, TOKEN, SECRET, PASSWORD, CREDENTIAL). Programs are
// told that no person watches them: no colours, no pager, no questions.
std::vector<std::string> command_environment(const std::vector<std::string>& own,
                                             const std::vector<std::string>& secret);

}  // namespace shepherd
