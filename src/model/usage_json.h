// Usage totals as JSON: the same names in `usage` events, tasks and the stored state.
// Threads: value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/task.h"

namespace shepherd {

void append_usage(std::string& out, const Usage& usage);

// What "tokens" means wherever one number is shown: all classes, input, output, cache read and cache written.
std::uint64_t total_tokens(const Usage& usage);
std::uint64_t total_tokens(std::string_view usage_json);  // of such an object; 0 when it is none

}  // namespace shepherd
