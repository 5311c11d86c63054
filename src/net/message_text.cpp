#include "net/message_text.h"

#include <algorithm>

#include "net/text.h"

namespace shepherd::net {

std::optional<std::uint64_t> parse_length(std::string_view digits) {
  if (digits.empty() || digits.size() > 18) return std::nullopt;
  std::uint64_t value = 0;
  for (char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return value;
}

std::optional<std::uint64_t> parse_chunk_size(std::string_view line) {
  std::string_view digits = trim_blanks(line.substr(0, line.find(';')));
  bool valid = !digits.empty() && digits.size() <= 15 && std::ranges::all_of(line, is_field_char) &&
               digits.data() == line.data();
  if (!valid) return std::nullopt;
  std::uint64_t size = 0;
  for (char c : digits) {
    c = to_lower(c);
    bool decimal = c >= '0' && c <= '9';
    if (!decimal && (c < 'a' || c > 'f')) return std::nullopt;
    size = size * 16 + static_cast<std::uint64_t>(decimal ? c - '0' : c - 'a' + 10);
  }
  return size;
}

FieldFault split_field(std::string_view line, FieldParts& parts) {
  std::size_t colon = line.find(':');
  // An empty name also catches folded lines, which start with a blank.
  if (colon == 0 || colon == std::string_view::npos || !std::ranges::all_of(line.substr(0, colon), is_token_char)) {
    return FieldFault::malformed;
  }
  parts = {line.substr(0, colon), trim_blanks(line.substr(colon + 1))};
  return std::ranges::all_of(parts.value, is_field_char) ? FieldFault::none : FieldFault::control_character;
}

}  // namespace shepherd::net
