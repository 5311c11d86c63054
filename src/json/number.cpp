#include "json/number.h"

#include <simdjson.h>

namespace shepherd {
namespace {

constexpr std::size_t kSafeDigits = 18;         // whole numbers up to this fit into any type
constexpr std::size_t kSafeExponentDigits = 2;  // these fit, too, behind kSafeDigits digits

// Passes digits; how many there were.
std::size_t pass_digits(const char*& at, const char* end) {
  const char* begin = at;
  while (at != end && *at >= '0' && *at <= '9') ++at;
  return static_cast<std::size_t>(at - begin);
}

bool fits_a_type(std::string_view number) {
  simdjson::dom::parser parser;
  return parser.parse(simdjson::padded_string(number)).error() == simdjson::SUCCESS;
}

}  // namespace

std::size_t number_length(std::string_view json) {
  const char* at = json.data();
  const char* end = at + json.size();
  if (at != end && *at == '-') ++at;
  bool zero = at != end && *at == '0';
  std::size_t whole = pass_digits(at, end);
  if (whole == 0 || (zero && whole > 1)) return 0;
  if (at != end && *at == '.') {
    ++at;
    if (pass_digits(at, end) == 0) return 0;
  }
  std::size_t exponent = 0;
  if (at != end && (*at | 0x20) == 'e') {
    ++at;
    if (at != end && (*at == '+' || *at == '-')) ++at;
    exponent = pass_digits(at, end);
    if (exponent == 0) return 0;
  }
  auto length = static_cast<std::size_t>(at - json.data());
  bool safe = whole <= kSafeDigits && exponent <= kSafeExponentDigits;
  return safe || fits_a_type(json.substr(0, length)) ? length : 0;
}

}  // namespace shepherd
