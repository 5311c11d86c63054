// Agents without a model, for a first look: `shepherd demo`. Threads: caller.
#pragma once

#include <CLI/CLI.hpp>
#include <string_view>

#include "cli/context.h"

namespace shepherd {

// This program in the role of the agent: not for people. Takes the flags of Claude Code that a driver passes.
inline constexpr std::string_view kDemoAgentCommand = "demo-agent";
int demo_agent_main(int argc, char** argv);

void add_demo_verb(CLI::App& app, Context& context);

}  // namespace shepherd
