#include "api/accept_encoding.h"

#include <algorithm>

#include "api/header_text.h"

namespace shepherd {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}

bool same_word(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, lower, lower);
}

// Cuts the part before the separator off `text` and returns it.
std::string_view next_part(std::string_view& text, char separator) {
  std::string_view part = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return trimmed(part);
}

// Whether the parameters after a coding's name leave it a weight above 0.
bool has_weight(std::string_view parameters) {
  while (!parameters.empty()) {
    std::string_view parameter = next_part(parameters, ';');
    std::string_view name = next_part(parameter, '=');
    if (same_word(name, "q")) return parameter.find_first_of("123456789") != std::string_view::npos;
  }
  return true;
}

}  // namespace

bool takes_coding(std::string_view accept_encoding, std::string_view coding) {
  bool any_other = false;
  while (!accept_encoding.empty()) {
    std::string_view parameters = next_part(accept_encoding, ',');
    std::string_view name = next_part(parameters, ';');
    if (same_word(name, coding)) return has_weight(parameters);
    if (name == "*") any_other = has_weight(parameters);
  }
  return any_other;
}

}  // namespace shepherd
