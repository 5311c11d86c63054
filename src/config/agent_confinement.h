// Derives the confinement of agents from the configuration. Threads: value.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

#include "config/config.h"
#include "process/confinement.h"

namespace shepherd {

inline constexpr std::string_view kConfineHelp =
    "What agents are kept from: none, secrets (the default where the machine can) or workspace";
void add_confine_option(CLI::App& command, std::string& level);

// Hides the data directory, the default data directory of this user's server, every file with a secret that the
// configuration names, and the sockets through which a process could start another one outside the confinement.
Confinement agent_confinement(const Config& config, const Environment& environment);

}  // namespace shepherd
