// Completion scripts for shells, made from the command tree itself, so they cannot go stale.
// Threads: value.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace shepherd {

std::string bash_completion(const CLI::App& app);
std::string zsh_completion(const CLI::App& app);
std::string fish_completion(const CLI::App& app);

}  // namespace shepherd
