#include "json/escapes.h"

#include <algorithm>
#include <array>

namespace shepherd {
namespace {

std::optional<unsigned> hex4(std::string_view text) {
  if (text.size() < 4) return std::nullopt;
  unsigned value = 0;
  for (char c : text.substr(0, 4)) {
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

std::optional<unsigned> escaped_unit(std::string_view json, std::size_t at) {
  return json.substr(std::min(at, json.size())).starts_with("\\u") ? hex4(json.substr(at + 2)) : std::nullopt;
}

constexpr auto kEscapes = [] {
  std::array<bool, 256> known{};
  for (char c : {'"', '\\', '/', 'b', 'f', 'n', 'r', 't'}) known[static_cast<unsigned char>(c)] = true;
  return known;
}();

}  // namespace

bool has_good_escapes(std::string_view json) {
  for (std::size_t at = json.find('\\'); at != std::string_view::npos; at = json.find('\\', at)) {
    char what = at + 1 < json.size() ? json[at + 1] : '\0';
    if (what == 'u') {
      auto unit = escaped_unit(json, at);
      bool pair = is_high(unit) && is_low(escaped_unit(json, at + 6));
      if (!unit || (!pair && (is_high(unit) || is_low(unit)))) return false;
      at += pair ? 12 : 6;
    } else {
      if (!kEscapes[static_cast<unsigned char>(what)]) return false;
      at += 2;
    }
  }
  return true;
}

std::optional<std::string> without_lone_surrogates(std::string_view json) {
  std::string out;
  std::size_t kept = 0;
  for (std::size_t at = json.find('\\'); at != std::string_view::npos; at = json.find('\\', at)) {
    auto unit = escaped_unit(json, at);
    if (!unit) {
      at += 2;
      continue;
    }
    if (is_high(unit) && is_low(escaped_unit(json, at + 6))) {
      at += 12;
      continue;
    }
    if (is_high(unit) || is_low(unit)) {
      out.append(json.substr(kept, at - kept)).append("\\ufffd");
      kept = at + 6;
    }
    at += 2;
  }
  if (kept == 0) return std::nullopt;
  out.append(json.substr(kept));
  return out;
}

}  // namespace shepherd
