#include "model/visible_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

namespace shepherd {
namespace {

struct Range {
  char32_t first, last;
};

// Sorted ranges: Unicode's Default_Ignorable_Code_Point, line and paragraph separators, spaces other than the ASCII
// one, interlinear annotation marks, and the Braille pattern without dots.
constexpr std::array kHidden{
    Range{0x00A0, 0x00A0},   Range{0x00AD, 0x00AD}, Range{0x034F, 0x034F},   Range{0x061C, 0x061C},
    Range{0x115F, 0x1160},   Range{0x1680, 0x1680}, Range{0x17B4, 0x17B5},   Range{0x180B, 0x180F},
    Range{0x2000, 0x200F},   Range{0x2028, 0x202F}, Range{0x205F, 0x206F},   Range{0x2800, 0x2800},
    Range{0x3000, 0x3000},   Range{0x3164, 0x3164}, Range{0xFE00, 0xFE0F},   Range{0xFEFF, 0xFEFF},
    Range{0xFFA0, 0xFFA0},   Range{0xFFF0, 0xFFFB}, Range{0x1BCA0, 0x1BCA3}, Range{0x1D173, 0x1D17A},
    Range{0xE0000, 0xE0FFF},
};

}  // namespace

Utf8Character first_character(std::string_view text) {
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

bool is_hidden(char32_t code) {
  const auto* found = std::ranges::lower_bound(kHidden, code, {}, &Range::last);
  return found != kHidden.end() && found->first <= code;
}

void append_written_out(std::string& out, char32_t code) {
  auto number = static_cast<std::uint32_t>(code);
  if (code == '\r') {
    out += "\\r";
  } else if (number < 0x80) {
    fmt::format_to(std::back_inserter(out), "\\x{:02x}", number);
  } else if (number <= 0xFFFF) {
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", number);
  } else {
    fmt::format_to(std::back_inserter(out), "\\U{:08x}", number);
  }
}

std::string visible_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    Utf8Character character = first_character(text);
    bool kept = character.code == '\n' || character.code == '\t';
    if (!character.valid) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(text.front()));
    } else if (!kept && (is_control(character.code) || is_hidden(character.code))) {
      append_written_out(out, character.code);
    } else {
      out += text.substr(0, character.bytes);
    }
    text.remove_prefix(character.bytes);
  }
  return out;
}

}  // namespace shepherd
