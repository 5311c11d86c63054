// Usage totals as JSON: the same names in `usage` events, tasks and the stored state.
// Threads: value.
#pragma once

#include <string>

#include "model/task.h"

namespace shepherd {

void append_usage(std::string& out, const Usage& usage);

}  // namespace shepherd
