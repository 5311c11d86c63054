// The whole command line: the tree of subcommands, and running it. Threads: caller.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/context.h"

namespace shepherd {

// Adds every subcommand. The context must outlive the tree, because commands write into it.
void build_command_line(CLI::App& app, Context& context);

// Parses, runs and reports. Returns the process's exit code; an error is one line on standard error.
int run_program(int argc, const char* const* argv, Context& context);

}  // namespace shepherd
