// How Claude Code can be launched otherwise than usual: its entries of Launch::options.
// Threads: value.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace shepherd {

// How the agent is listened to, best first.
enum class OutputFormat : std::uint8_t {
  bidirectional,  // a line per step, and commands on the agent's standard input
  stream,         // a line per step; standard input is closed
  batch,          // one JSON document at the end
  text,           // text for people
};
// Names of `claude.output_format`: stream-json (bidirectional), stream-json-one-way, json, text.
std::string_view name(OutputFormat format);
std::optional<OutputFormat> output_format(std::string_view name);

// The name of a format; missing or unknown: bidirectional.
inline constexpr std::string_view kOutputFormatOption = "output_format";
// Options of the program that it said it does not know, with a comma between them.
inline constexpr std::string_view kWithoutOption = "without";

}  // namespace shepherd
