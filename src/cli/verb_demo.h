// `shepherd demo`: agents without a model, for a first look. Threads: caller.
#pragma once

#include <CLI/CLI.hpp>
#include <string_view>

#include "cli/context.h"

namespace shepherd {

// Runs this program as the demo agent; not for people. Accepts the flags of Claude Code that a driver passes.
inline constexpr std::string_view kDemoAgentCommand = "demo-agent";
int demo_agent_main(int argc, char** argv);

void add_demo_verb(CLI::App& app, Context& context);

}  // namespace shepherd
