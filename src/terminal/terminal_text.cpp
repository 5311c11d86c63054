#include "terminal/terminal_text.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>

#include "model/visible_text.h"

namespace shepherd {
namespace {

// Hidden characters that have no use in an agent's output. Spaces stay, and so do the characters that join emoji.
bool is_deceptive(char32_t code) {
  bool blank = code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x202F ||
               code == 0x205F || code == 0x2800 || code == 0x3000;
  bool emoji = code == 0x200D || (code >= 0xFE00 && code <= 0xFE0F);
  return is_hidden(code) && !blank && !emoji;
}

bool is_line_break(char32_t code) {
  return code == '\n' || code == 0x2028 || code == 0x2029 || code == 0x85;
}

// The number of bytes of an escape sequence after `introducer`, the character after ESC.
std::size_t sequence_size(std::string_view rest, char32_t introducer) {
  std::size_t i = 0;
  if (introducer == '[') {  // CSI: parameters and intermediates, then one final byte
    while (i < rest.size() && rest[i] >= 0x20 && rest[i] <= 0x3F) ++i;
    return i < rest.size() && rest[i] >= 0x40 && rest[i] <= 0x7E ? i + 1 : i;
  }
  if (introducer == ']' || introducer == 'P' || introducer == 'X' || introducer == '^' || introducer == '_') {
    // A string up to BEL or ST, such as a title or a link's address. If it does not end on its line, its text stays
    // visible.
    for (; i < rest.size() && rest[i] != '\n'; ++i) {
      if (rest[i] == '\a') return i + 1;
      if (rest[i] == '\x1b') return i + 1 < rest.size() && rest[i + 1] == '\\' ? i + 2 : 0;
    }
    return 0;
  }
  while (i < rest.size() && rest[i] >= 0x20 && rest[i] <= 0x2F) ++i;  // ESC ( B and similar
  return i;
}

// The size of the sequence at the start of the text; 0 if there is none.
std::size_t escape_size(std::string_view text) {
  if (text.front() != 0x1B) return 0;
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

}  // namespace

std::string terminal_text(std::string_view text, Lines lines) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    Utf8Character character = first_character(text);
    if (!character.valid) {
      out += "\xEF\xBF\xBD";
      text.remove_prefix(1);
      continue;
    }
    if (std::size_t escape = escape_size(text); escape > 0) {
      text.remove_prefix(escape);
      continue;
    }
    if (is_line_break(character.code)) {
      out += lines == Lines::keep ? '\n' : ' ';
    } else if (character.code == '\t') {
      out += "  ";
    } else if (character.code >= 0x80 && is_control(character.code)) {
      append_written_out(out, character.code);
    } else if (!is_control(character.code) && !is_deceptive(character.code)) {
      out += text.substr(0, character.bytes);
    }
    text.remove_prefix(character.bytes);
  }
  return out;
}

std::string exact_text(std::string_view text, Lines lines) {
  std::string out;
  for (char c : visible_text(text)) {
    if (c == '\t') {
      out += "  ";
    } else if (c == '\n' && lines == Lines::join) {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

std::string terminal_json(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  while (!json.empty()) {
    Utf8Character character = first_character(json);
    if (!character.valid) {
      out += "\xEF\xBF\xBD";
    } else if (character.code >= 0x7F && (is_control(character.code) || is_hidden(character.code))) {
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
