// Measures this machine: `shepherd bench`. Threads: caller.
#pragma once

#include <CLI/CLI.hpp>

#include "app/context.h"

namespace shepherd {

void add_bench_command(CLI::App& app, Context& context);

}  // namespace shepherd
