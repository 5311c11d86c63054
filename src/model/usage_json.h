// Usage totals as JSON, with the same names in `usage` events, tasks and the stored state.
// Threads: value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/task.h"

namespace shepherd {

void append_usage(std::string& out, const Usage& usage);

// The number shown as "tokens": the sum of input, output, cache read and cache written tokens.
std::uint64_t total_tokens(const Usage& usage);
std::uint64_t total_tokens(std::string_view usage_json);  // of a JSON object with these names; 0 if it is not one

}  // namespace shepherd
