// Parses and formats durations: "30d", "12h", "90s"; "3 min", "2 d".
// Threads: value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace shepherd {

// "45s", "30m", "12h", "7d", "2w" as seconds. invalid_argument otherwise.
Result<std::int64_t> parse_span_seconds(std::string_view text);

std::string age_text(std::int64_t milliseconds);      // one unit, rounded down: "12 s", "3 min", "5 h", "2 d"
std::string elapsed_text(std::int64_t milliseconds);  // since a start: "0.4s", "1:02", "1:00:05"
std::string bytes_text(std::uint64_t bytes);          // "512 B", "1.5 GiB"

}  // namespace shepherd
