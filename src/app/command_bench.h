// Measures this machine: `shepherd bench`.
#pragma once

#include <CLI/CLI.hpp>

namespace shepherd {

void add_bench_command(CLI::App& app);

}  // namespace shepherd
