// What agents are kept from, as the configuration says it. Threads: value.
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

// Hidden are the data directory, that of a server of this user, every file with a secret that the configuration names,
// and the sockets by which a process would have another one started outside.
Confinement agent_confinement(const Config& config, const Environment& environment);

}  // namespace shepherd
