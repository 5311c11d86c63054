#include "terminal/span_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "terminal/limits.h"

namespace shepherd {

Result<std::int64_t> parse_span_seconds(std::string_view text) {
  std::int64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  std::int64_t seconds = unit == "s"   ? 1
                         : unit == "m" ? 60
                         : unit == "h" ? 3'600
                         : unit == "d" ? 86'400
                         : unit == "w" ? 7 * 86'400
                                       : 0;
  if (error != std::errc() || seconds == 0 || number <= 0 || number > kMaxSpanSeconds / seconds) {
    return fail(ErrorCode::invalid_argument, "bad_span",
                fmt::format("\"{}\" is not a span of time; write 45s, 30m, 12h, 7d or 2w", text));
  }
  return number * seconds;
}

std::string age_text(std::int64_t milliseconds) {
  std::int64_t seconds = std::max<std::int64_t>(milliseconds, 0) / 1'000;
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 3'600) return fmt::format("{} min", seconds / 60);
  if (seconds < 2 * 86'400) return fmt::format("{} h", seconds / 3'600);
  return fmt::format("{} d", seconds / 86'400);
}

std::string elapsed_text(std::int64_t milliseconds) {
  std::int64_t tenths = std::max<std::int64_t>(milliseconds, 0) / 100;
  std::int64_t seconds = tenths / 10;
  if (seconds < 60) return fmt::format("{}.{}s", seconds, tenths % 10);
  if (seconds < 3'600) return fmt::format("{}:{:02}", seconds / 60, seconds % 60);
  return fmt::format("{}:{:02}:{:02}", seconds / 3'600, seconds / 60 % 60, seconds % 60);
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

}  // namespace shepherd
