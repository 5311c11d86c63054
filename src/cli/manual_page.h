// The manual page, generated from the command tree, so that it is always current.
// Threads: value.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace shepherd {

std::string manual_page(const CLI::App& app);  // troff, for man(1)

}  // namespace shepherd
