// Rules that requests and responses share: header lines, lengths, chunk sizes. The stricter reading of each, because
// two programs that disagree about the end of a message can be made to disagree about its meaning.
// Threads: value.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace shepherd::net {

// Decimal digits alone, at most 18.
std::optional<std::uint64_t> parse_length(std::string_view digits);

// The size in a chunk's line, which may have extensions; the line is without its CRLF.
std::optional<std::uint64_t> parse_chunk_size(std::string_view line);

struct FieldParts {
  std::string_view name, value;
};
enum class FieldFault : std::uint8_t { none, malformed, control_character };
// A header's line without its CRLF: "Name: value". Folded lines and blanks before the colon are malformed.
FieldFault split_field(std::string_view line, FieldParts& parts);

}  // namespace shepherd::net
