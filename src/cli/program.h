// The command line as a whole: the tree of subcommands, and how a run of it ends. Threads: caller.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/context.h"

namespace shepherd {

// Adds every subcommand. The tree and the context must live together: commands write into the context.
void build_command_line(CLI::App& app, Context& context);

// Parses, runs and reports. Answers the process's exit code; errors are one line on standard error.
int run_program(int argc, const char* const* argv, Context& context);

}  // namespace shepherd
