// `shepherd bench`: measures this machine. Threads: caller.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/context.h"

namespace shepherd {

void add_bench_verb(CLI::App& app, Context& context);

}  // namespace shepherd
