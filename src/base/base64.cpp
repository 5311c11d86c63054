#include "base/base64.h"

#include <array>
#include <cstdint>

namespace shepherd {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<std::int16_t, 256> kValues = [] {
  std::array<std::int16_t, 256> values{};
  values.fill(-1);
  for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
    values[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::int16_t>(i);
  }
  return values;
}();

}  // namespace

std::optional<std::string> decode_base64(std::string_view text) {
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  if (text.size() % 4 == 1) return std::nullopt;
  std::string out;
  std::uint32_t bits = 0;
  int held = 0;
  for (char c : text) {
    int value = kValues[static_cast<unsigned char>(c)];
    if (value < 0) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    held += 6;
    if (held >= 8) {
      held -= 8;
      out.push_back(static_cast<char>(bits >> held & 0xFF));
    }
  }
  return out;
}

std::string encode_base64(std::string_view bytes) {
  std::string out;
  std::uint32_t bits = 0;
  int held = 0;
  for (char c : bytes) {
    bits = bits << 8 | static_cast<unsigned char>(c);
    held += 8;
    while (held >= 6) {
      held -= 6;
      out.push_back(kAlphabet[bits >> held & 63]);
    }
  }
  if (held > 0) out.push_back(kAlphabet[bits << (6 - held) & 63]);
  return out;
}

}  // namespace shepherd
