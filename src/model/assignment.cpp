#include "model/assignment.h"

#include <algorithm>

#include "model/text_class.h"

namespace shepherd {
namespace {

constexpr std::size_t kMostSpaces = 8;         // around a separator
constexpr std::size_t kMostQuoteBytes = 8;     // \\\" of JSON inside JSON
constexpr std::size_t kMostJudgedBytes = 128;  // of a value; the rest is taken without looking
constexpr std::string_view kValueEnds = "\"'`,;&<>(){}[]|\\";

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
bool is_quote(char c) {
  return c == '"' || c == '\'' || c == '`';
}

std::size_t skip_spaces(std::string_view text, std::size_t at) {
  std::size_t end = std::min(text.size(), at + kMostSpaces);
  while (at < end && is_space(text[at])) ++at;
  return at;
}

std::size_t skip_quote(std::string_view text, std::size_t at) {
  std::size_t i = at;
  std::size_t end = std::min(text.size(), at + kMostQuoteBytes);
  while (i < end && text[i] == '\\') ++i;
  return i < text.size() && is_quote(text[i]) ? i + 1 : at;
}

std::size_t skip_separator(std::string_view text, std::size_t at) {
  std::size_t i = at;
  while (i < text.size() && i < at + 2 && (text[i] == ':' || text[i] == '=')) ++i;
  if (i > at && i < text.size() && text[i] == '>') ++i;
  return i;
}

bool ends_value(char c) {
  return static_cast<unsigned char>(c) <= ' ' || kValueEnds.find(c) != std::string_view::npos;
}

}  // namespace

bool is_plausible_value(std::string_view value, bool is_password) {
  constexpr std::string_view kSigns = "!@#%^*+~?$";
  constexpr std::string_view kPlaceholders = "$%*~/.";  // $VAR, %s, ****, paths
  if (value.size() < (is_password ? 6U : 8U)) return false;
  if (kPlaceholders.find(value.front()) != std::string_view::npos) return false;
  if (value.find("://") != std::string_view::npos) return false;
  if (value.find_first_not_of(value.front()) == std::string_view::npos) return false;  // xxxxxxxx
  bool digit = false;
  bool letter = false;
  bool sign = false;
  for (char c : value) {
    digit = digit || is_in(c, kDigit);
    letter = letter || is_in(c, kLower | kUpper);
    sign = sign || kSigns.find(c) != std::string_view::npos;
  }
  if (!letter) return is_password && digit;  // counts, versions and dates are not tokens
  return digit || (is_password && sign);
}

std::optional<TextSpan> assigned_value(std::string_view text, std::size_t after_name, bool is_password) {
  std::size_t at = skip_quote(text, after_name);
  if (at < text.size() && text[at] == ']') ++at;  // environ["TOKEN"] = …
  at = skip_spaces(text, at);
  std::size_t begin = skip_separator(text, at);
  if (begin == at) return std::nullopt;
  begin = skip_quote(text, skip_spaces(text, begin));
  std::size_t end = begin;
  std::size_t judged = std::min(text.size(), begin + kMostJudgedBytes);
  while (end < judged && !ends_value(text[end])) ++end;
  if (end < text.size() && text[end] == '(') return std::nullopt;  // a call, not a value
  std::string_view value = text.substr(begin, end - begin);
  while (!value.empty() && (value.back() == '.' || value.back() == ':')) value.remove_suffix(1);
  if (!is_plausible_value(value, is_password)) return std::nullopt;
  if (end < judged) return TextSpan{begin, begin + value.size()};
  while (end < text.size() && !ends_value(text[end])) ++end;
  return TextSpan{begin, end};
}

bool may_be_assignment(std::string_view text, std::size_t after_name) {
  // Between name and separator there can be a quote, a bracket and spaces, each perhaps escaped once more.
  std::size_t far = std::min(text.size(), after_name + 2 * (kMostQuoteBytes + kMostSpaces + 2));
  for (std::size_t at = after_name; at < far; ++at) {
    char c = text[at];
    if (c == '=' || c == ':') return true;
    bool escaped_space = at > 0 && text[at - 1] == '\\' && (c == 'n' || c == 't' || c == 'r');
    if (!is_space(c) && !is_quote(c) && c != '\\' && c != ']' && !escaped_space) return false;
  }
  return false;
}

}  // namespace shepherd
