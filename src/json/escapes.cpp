#include "json/escapes.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "json/blocks.h"

namespace shepherd {
namespace {

constexpr std::size_t kUnitBytes = 6;  // \uXXXX

// What the byte behind a backslash stands for; 0: nothing, or \u.
constexpr auto kEscaped = [] {
  std::array<char, 256> meant{};
  for (char same : {'"', '\\', '/'}) meant[static_cast<unsigned char>(same)] = same;
  meant['b'] = '\b';
  meant['f'] = '\f';
  meant['n'] = '\n';
  meant['r'] = '\r';
  meant['t'] = '\t';
  return meant;
}();

char meant_by(char behind_backslash) {
  return kEscaped[static_cast<unsigned char>(behind_backslash)];
}

// The UTF-16 unit that a \uXXXX at the beginning stands for.
std::optional<unsigned> escaped_unit(std::string_view json) {
  if (json.size() < kUnitBytes || json[0] != '\\' || json[1] != 'u') return std::nullopt;
  unsigned value = 0;
  for (char c : json.substr(2, 4)) {
    unsigned digit = 0;
    if (c >= '0' && c <= '9') {
      digit = static_cast<unsigned>(c - '0');
    } else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') {
      digit = static_cast<unsigned>((c | 0x20) - 'a') + 10;
    } else {
      return std::nullopt;
    }
    value = value * 16 + digit;
  }
  return value;
}

bool is_high(std::optional<unsigned> unit) {
  return unit && *unit >= 0xD800 && *unit <= 0xDBFF;
}
bool is_low(std::optional<unsigned> unit) {
  return unit && *unit >= 0xDC00 && *unit <= 0xDFFF;
}

// One character written as \uXXXX, or as two of them.
struct EscapedPoint {
  std::uint32_t point = 0;
  std::size_t bytes = 0;  // 0: no such escape
  bool lone = false;      // half a surrogate pair
};

EscapedPoint escaped_point(std::string_view json) {
  auto unit = escaped_unit(json);
  if (!unit) return {};
  if (!is_high(unit)) return {*unit, kUnitBytes, is_low(unit)};
  auto second = escaped_unit(json.substr(kUnitBytes));
  if (!is_low(second)) return {*unit, kUnitBytes, true};
  return {0x10000 + ((*unit - 0xD800) << 10U) + (*second - 0xDC00), 2 * kUnitBytes, false};
}

char* put_utf8(char* to, std::uint32_t point) {
  auto put = [&to](std::uint32_t byte) { *to++ = static_cast<char>(byte); };
  if (point < 0x80) {
    put(point);
  } else if (point < 0x800) {
    put(0xC0 | point >> 6);
    put(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    put(0xE0 | point >> 12);
    put(0x80 | (point >> 6 & 0x3F));
    put(0x80 | (point & 0x3F));
  } else {
    put(0xF0 | point >> 18);
    put(0x80 | (point >> 12 & 0x3F));
    put(0x80 | (point >> 6 & 0x3F));
    put(0x80 | (point & 0x3F));
  }
  return to;
}

}  // namespace

std::size_t escape_length(std::string_view json) {
  if (json.size() < 2) return 0;
  if (json[1] != 'u') return meant_by(json[1]) != '\0' ? 2 : 0;
  EscapedPoint found = escaped_point(json);
  return found.lone ? 0 : found.bytes;
}

char* unescape_to(char* to, std::string_view escaped) {
  const char* at = escaped.data();
  const char* end = at + escaped.size();
  while (at != end) {
    // A block is copied before it is looked at: what stands behind its first backslash is written over.
    if (static_cast<std::size_t>(end - at) >= kBlock) {
      std::memcpy(to, at, kBlock);
      std::size_t plain = Block::first(Block(at).equal('\\'));
      at += plain;
      to += plain;
      if (plain == kBlock) continue;
    } else if (*at != '\\') {
      *to++ = *at++;
      continue;
    }
    char meant = end - at >= 2 ? meant_by(at[1]) : '\0';
    if (meant != '\0') {
      *to++ = meant;
      at += 2;
      continue;
    }
    EscapedPoint found = escaped_point({at, end});
    if (found.bytes == 0) return nullptr;
    to = put_utf8(to, found.lone ? 0xFFFD : found.point);
    at += found.bytes;
  }
  return to;
}

std::optional<std::string> unescape(std::string_view escaped) {
  std::optional<std::string> out(std::in_place);
  if (escaped.find('\\') == std::string_view::npos) {
    out->assign(escaped);
    return out;
  }
  bool good = true;
  out->resize_and_overwrite(escaped.size() + kBlock, [&](char* to, std::size_t) {
    char* end = unescape_to(to, escaped);
    good = end != nullptr;
    return good ? static_cast<std::size_t>(end - to) : 0;
  });
  if (!good) out.reset();
  return out;
}

std::optional<std::string> without_lone_surrogates(std::string_view json) {
  std::string out;
  std::size_t kept = 0;
  for (std::size_t at = json.find('\\'); at != std::string_view::npos; at = json.find('\\', at)) {
    EscapedPoint found = escaped_point(json.substr(at));
    if (found.lone) {
      out.append(json.substr(kept, at - kept)).append("\\ufffd");
      kept = at + found.bytes;
    }
    at += std::max<std::size_t>(found.bytes, 2);
  }
  if (kept == 0) return std::nullopt;
  out.append(json.substr(kept));
  return out;
}

}  // namespace shepherd
