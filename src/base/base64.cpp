#include "base/base64.h"

#include <array>
#include <cstdint>

namespace shepherd {
namespace {

constexpr std::string_view kStandard = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kForUrls = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

using Base64Values = std::array<std::int16_t, 256>;

constexpr Base64Values values_of(std::string_view alphabet) {
  Base64Values values{};
  values.fill(-1);
  for (std::size_t i = 0; i < alphabet.size(); ++i) {
    values[static_cast<unsigned char>(alphabet[i])] = static_cast<std::int16_t>(i);
  }
  return values;
}

constexpr Base64Values kStandardValues = values_of(kStandard);
constexpr Base64Values kValuesForUrls = values_of(kForUrls);

std::optional<std::string> decode(std::string_view text, const Base64Values& values) {
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  if (text.size() % 4 == 1) return std::nullopt;
  std::string out;
  std::uint32_t bits = 0;
  int held = 0;
  for (char c : text) {
    int value = values[static_cast<unsigned char>(c)];
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

std::string encode(std::string_view bytes, std::string_view alphabet) {
  std::string out;
  std::uint32_t bits = 0;
  int held = 0;
  for (char c : bytes) {
    bits = bits << 8 | static_cast<unsigned char>(c);
    held += 8;
    while (held >= 6) {
      held -= 6;
      out.push_back(alphabet[bits >> held & 63]);
    }
  }
  if (held > 0) out.push_back(alphabet[bits << (6 - held) & 63]);
  return out;
}

}  // namespace

std::optional<std::string> decode_base64(std::string_view text) {
  return decode(text, kStandardValues);
}

std::string encode_base64(std::string_view bytes) {
  return encode(bytes, kStandard);
}

std::optional<std::string> decode_base64url(std::string_view text) {
  return decode(text, kValuesForUrls);
}

std::string encode_base64url(std::string_view bytes) {
  return encode(bytes, kForUrls);
}

}  // namespace shepherd
