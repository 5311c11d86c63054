// The manual page, made from the command tree itself, so that it cannot go stale.
// Threads: value.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace shepherd {

std::string manual_page(const CLI::App& app);  // troff, for man(1)

}  // namespace shepherd
