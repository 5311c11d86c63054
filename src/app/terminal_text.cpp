#include "app/terminal_text.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>

namespace shepherd {
namespace {

struct Character {
  char32_t code = 0;
  std::size_t bytes = 1;
  bool valid = false;
};

// Decodes one UTF-8 character; overlong forms, surrogates and broken sequences are invalid, one byte at a time.
Character decode(std::string_view text) {
  auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < size) return {};
  char32_t code = lead & (0xFF >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    code = (code << 6) | (byte(i) & 0x3F);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[size] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return {};
  return {code, size, true};
}

bool is_control(char32_t code) {
  return code < 0x20 || (code >= 0x7F && code <= 0x9F);
}

// Characters that show nothing themselves and change how others show.
bool is_deceptive(char32_t code) {
  return code == 0x061C || code == 0x200B || code == 0x200E || code == 0x200F || (code >= 0x202A && code <= 0x202E) ||
         (code >= 0x2060 && code <= 0x206F) || code == 0xFEFF || (code >= 0xFFF9 && code <= 0xFFFB) ||
         (code >= 0xE0000 && code <= 0xE007F);
}

bool is_line_break(char32_t code) {
  return code == '\n' || code == 0x2028 || code == 0x2029 || code == 0x85;
}

// How many bytes the escape sequence at the front takes; `introducer` is the character after ESC, or the C1 form of it.
std::size_t sequence_size(std::string_view rest, char32_t introducer) {
  std::size_t i = 0;
  if (introducer == '[') {  // CSI: parameters and intermediates, then one final byte
    while (i < rest.size() && rest[i] >= 0x20 && rest[i] <= 0x3F) ++i;
    return i < rest.size() && rest[i] >= 0x40 && rest[i] <= 0x7E ? i + 1 : i;
  }
  if (introducer == ']' || introducer == 'P' || introducer == 'X' || introducer == '^' || introducer == '_') {
    // A string up to BEL or ST. An unfinished one takes the rest, as it would in a terminal.
    for (; i < rest.size(); ++i) {
      if (rest[i] == '\a') return i + 1;
      if (rest[i] == '\x1b') return i + 1 < rest.size() && rest[i + 1] == '\\' ? i + 2 : i;
      if (rest.substr(i, 2) == "\xC2\x9C") return i + 2;
    }
    return i;
  }
  while (i < rest.size() && rest[i] >= 0x20 && rest[i] <= 0x2F) ++i;  // ESC ( B and the like
  return i;
}

// Bytes of the sequence that begins here; 0 when this character does not begin one.
std::size_t escape_size(std::string_view text, const Character& character) {
  if (character.code == 0x1B) {
    if (text.size() < 2) return 1;
    char32_t introducer = static_cast<unsigned char>(text[1]);
    if (introducer >= 0x20 && introducer <= 0x2F) {
      std::size_t i = 1;
      while (i < text.size() && text[i] >= 0x20 && text[i] <= 0x2F) ++i;
      return i < text.size() && static_cast<unsigned char>(text[i]) < 0x7F ? i + 1 : i;
    }
    if (introducer < 0x20 || introducer > 0x7E) return 1;
    return 2 + sequence_size(text.substr(2), introducer);
  }
  if (character.code >= 0x80 && character.code <= 0x9F && character.code != 0x85) {
    return character.bytes + sequence_size(text.substr(character.bytes), character.code - 0x40);
  }
  return 0;
}

}  // namespace

std::string terminal_text(std::string_view text, Lines lines) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    Character character = decode(text);
    if (!character.valid) {
      out += "\xEF\xBF\xBD";
      text.remove_prefix(1);
      continue;
    }
    if (std::size_t escape = escape_size(text, character); escape > 0) {
      text.remove_prefix(escape);
      continue;
    }
    if (is_line_break(character.code)) {
      out += lines == Lines::keep ? '\n' : ' ';
    } else if (character.code == '\t') {
      out += "  ";
    } else if (!is_control(character.code) && !is_deceptive(character.code)) {
      out += text.substr(0, character.bytes);
    }
    text.remove_prefix(character.bytes);
  }
  return out;
}

std::string terminal_json(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  while (!json.empty()) {
    Character character = decode(json);
    if (!character.valid) {
      out += "\xEF\xBF\xBD";
    } else if (character.code >= 0x7F && (is_control(character.code) || is_deceptive(character.code))) {
      char32_t code = character.code;
      if (code > 0xFFFF) {
        out += fmt::format("\\u{:04x}", 0xD800 + ((static_cast<std::uint32_t>(code) - 0x10000) >> 10));
        code = 0xDC00 + ((code - 0x10000) & 0x3FF);
      }
      out += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(code));
    } else {
      out += json.substr(0, character.bytes);
    }
    json.remove_prefix(character.valid ? character.bytes : 1);
  }
  return out;
}

std::size_t character_count(std::string_view text) {
  std::size_t count = 0;
  for (char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return count;
}

std::string cut_to(std::string_view text, std::size_t columns) {
  if (character_count(text) <= columns) return std::string(text);
  std::size_t bytes = 0;
  std::size_t characters = 0;
  while (bytes < text.size()) {
    if ((static_cast<unsigned char>(text[bytes]) & 0xC0) != 0x80 && characters++ + 1 >= columns) break;
    ++bytes;
  }
  return std::string(text.substr(0, bytes)) + "…";
}

}  // namespace shepherd
