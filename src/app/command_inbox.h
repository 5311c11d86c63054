// What needs a person now: `shepherd inbox`. Threads: caller.
#pragma once

#include <CLI/CLI.hpp>

#include "app/context.h"

namespace shepherd {

void add_inbox_command(CLI::App& app, Context& context);

}  // namespace shepherd
