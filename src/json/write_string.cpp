#include <array>
#include <cstdint>
#include <cstring>

#include "json/text.h"
#include "json/write.h"

namespace shepherd {
namespace {

constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (std::size_t i = 0x20; i < plain.size(); ++i) plain[i] = i != '"' && i != '\\';
  return plain;
}();

void append_escaped(std::string& out, char c) {
  constexpr std::string_view kHex = "0123456789abcdef";
  switch (c) {
    case '"':
      out.append("\\\"");
      return;
    case '\\':
      out.append("\\\\");
      return;
    case '\b':
      out.append("\\b");
      return;
    case '\f':
      out.append("\\f");
      return;
    case '\n':
      out.append("\\n");
      return;
    case '\r':
      out.append("\\r");
      return;
    case '\t':
      out.append("\\t");
      return;
    default:
      out.append("\\u00");
      out.push_back(kHex[static_cast<unsigned char>(c) >> 4]);
      out.push_back(kHex[c & 15]);
  }
}

// The length of the well-formed UTF-8 sequence at text[at]; 0 when there is none.
std::size_t sequence_length(std::string_view text, std::size_t at) {
  auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  auto continues = [&](std::size_t i) { return (byte(i) & 0xC0) == 0x80; };
  unsigned first = byte(at);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return continues(at + 1) ? 2 : 0;
  if (first >= 0xE0 && first < 0xF0) {
    bool narrow = (first == 0xE0 && byte(at + 1) < 0xA0) || (first == 0xED && byte(at + 1) >= 0xA0);
    return !narrow && continues(at + 1) && continues(at + 2) ? 3 : 0;
  }
  if (first >= 0xF0 && first < 0xF5) {
    bool narrow = (first == 0xF0 && byte(at + 1) < 0x90) || (first == 0xF4 && byte(at + 1) >= 0x90);
    return !narrow && continues(at + 1) && continues(at + 2) && continues(at + 3) ? 4 : 0;
  }
  return 0;
}

std::string repaired_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 8);
  for (std::size_t at = 0; at < text.size();) {
    std::size_t length = sequence_length(text, at);
    if (length == 0) {
      out.append("\xEF\xBF\xBD");
      ++at;
    } else {
      out.append(text.substr(at, length));
      at += length;
    }
  }
  return out;
}

}  // namespace

// Nothing to escape and nothing to check, as in most strings. Without branches: compilers make it a few instructions.
static bool is_plain_ascii(std::string_view text) {
  unsigned found = 0;
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    found |= static_cast<unsigned>(byte < 0x20) | static_cast<unsigned>(byte >= 0x7F) |
             static_cast<unsigned>(byte == '"') | static_cast<unsigned>(byte == '\\');
  }
  return found == 0;
}

void append_json_string(std::string& out, std::string_view text) {
  if (is_plain_ascii(text)) {
    out.push_back('"');
    out.append(text);
    out.push_back('"');
    return;
  }
  std::string repaired;
  if (!is_utf8(text)) {
    repaired = repaired_utf8(text);
    text = repaired;
  }
  out.push_back('"');
  std::size_t from = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (kPlain[static_cast<unsigned char>(text[at])]) continue;
    out.append(text.substr(from, at - from));
    append_escaped(out, text[at]);
    from = at + 1;
  }
  out.append(text.substr(from));
  out.push_back('"');
}

}  // namespace shepherd
