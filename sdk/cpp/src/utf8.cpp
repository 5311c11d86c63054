#include "utf8.h"

#include <cstdint>

namespace shepherd::agent {
namespace {

// Returns the length of the valid character at the start of the text, or 0 if there is none. The range of the second
// byte excludes overlong forms, surrogates and numbers over U+10FFFF.
std::size_t character_bytes(std::string_view text) {
  auto at = [&](std::size_t i) { return i < text.size() ? static_cast<std::uint8_t>(text[i]) : std::uint8_t{0}; };
  auto follows = [&](std::size_t i) { return (at(i) & 0xC0) == 0x80; };
  std::uint8_t first = at(0), second = at(1);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    std::uint8_t low = first == 0xE0 ? 0xA0 : 0x80, high = first == 0xED ? 0x9F : 0xBF;
    return second >= low && second <= high && follows(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    std::uint8_t low = first == 0xF0 ? 0x90 : 0x80, high = first == 0xF4 ? 0x8F : 0xBF;
    return second >= low && second <= high && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    std::size_t bytes = character_bytes(text);
    if (bytes == 0) {
      valid += "\xEF\xBF\xBD";
      text.remove_prefix(1);
    } else {
      valid += text.substr(0, bytes);
      text.remove_prefix(bytes);
    }
  }
  return valid;
}

std::size_t whole_characters(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text.size();
  std::size_t end = most;
  while (end > 0 && most - end < 4 && (static_cast<std::uint8_t>(text[end]) & 0xC0) == 0x80) --end;
  return end == 0 ? most : end;
}

}  // namespace shepherd::agent
