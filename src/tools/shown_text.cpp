#include "tools/shown_text.h"

#include <cstdint>

#include "json/text.h"
#include "tools/limits.h"

namespace shepherd {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

bool continues(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

// The length of the valid character at the front; 0 if there is none.
std::size_t character_at(std::string_view text) {
  auto first = static_cast<unsigned char>(text.front());
  std::size_t length = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (!continues(text[i])) return 0;
  }
  if (length < 3) return length;
  auto second = static_cast<unsigned char>(text[1]);
  bool bad = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) || (first == 0xF0 && second < 0x90) ||
             (first == 0xF4 && second > 0x8F);
  return bad ? 0 : length;
}

}  // namespace

std::string valid_text(std::string_view bytes) {
  if (is_utf8(bytes)) return std::string(bytes);
  std::string text;
  text.reserve(bytes.size() + bytes.size() / 8);
  while (!bytes.empty()) {
    std::size_t length = character_at(bytes);
    if (length == 0) {
      text += kReplacement;
      length = 1;
    } else {
      text.append(bytes.substr(0, length));
    }
    bytes.remove_prefix(length);
  }
  return text;
}

std::string_view first_bytes(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && continues(text[most])) --most;
  return text.substr(0, most);
}

std::string_view last_bytes(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t begin = text.size() - most;
  while (begin < text.size() && continues(text[begin])) ++begin;
  return text.substr(begin);
}

std::string shown_line(std::string_view text, std::size_t characters) {
  std::string line;
  std::size_t count = 0;
  bool blank = false;
  // Enough bytes for all characters, so that a long text is not copied.
  std::string valid = valid_text(first_bytes(text, 8 * characters + 64));
  bool more = valid.size() < text.size();
  for (std::string_view rest = valid; !rest.empty();) {
    std::size_t length = character_at(rest);
    auto first = static_cast<unsigned char>(rest.front());
    bool is_blank = first <= 0x20 || first == 0x7F || rest.starts_with("\xC2\x85") ||
                    (first == 0xC2 && static_cast<unsigned char>(rest[1]) < 0xA0);
    if (!is_blank) {
      std::size_t needed = blank && count > 0 ? 2 : 1;
      if (count + needed > characters) {
        more = true;
        break;
      }
      if (needed == 2) line += ' ';
      line += rest.substr(0, length);
      count += needed;
      blank = false;
    } else {
      blank = true;
    }
    rest.remove_prefix(length);
  }
  if (more) line += "…";
  return line;
}

std::string bounded_result(std::string text, std::string_view note) {
  if (text.size() <= kMaxToolResultBytes) return text;
  text.resize(first_bytes(text, kMaxToolResultBytes - note.size()).size());
  text += note;
  return text;
}

}  // namespace shepherd
