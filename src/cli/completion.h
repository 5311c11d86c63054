// Completion scripts for shells, generated from the command tree, so that they are always current.
// Threads: value.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace shepherd {

std::string bash_completion(const CLI::App& app);
std::string zsh_completion(const CLI::App& app);
std::string fish_completion(const CLI::App& app);

}  // namespace shepherd
