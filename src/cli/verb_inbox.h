// `shepherd inbox`: what needs a person now. Threads: caller.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/context.h"

namespace shepherd {

void add_inbox_verb(CLI::App& app, Context& context);

}  // namespace shepherd
