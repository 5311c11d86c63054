#include "redact/assignment.h"

#include <algorithm>

#include "redact/text_class.h"

namespace shepherd {
namespace {

constexpr std::size_t kMostSpaces = 8;              // around a separator
constexpr std::size_t kMostQuoteBytes = 8;          // \\\" of JSON inside JSON
constexpr std::size_t kMostOptionBytes = 40;        // from the dashes to the telling part of its name
constexpr std::size_t kMostLoginBytes = 128;        // `login NAME` before `password`
constexpr std::size_t kMostJudgedValueBytes = 128;  // of a value; the rest is taken without looking
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

// The name is the end of a long option: --token, --github-token.
bool is_option(std::string_view text, std::size_t name, bool generous) {
  std::size_t begin = name;
  std::size_t far = name - std::min(name, kMostOptionBytes);
  while (begin > far && is_in(text[begin - 1], kWord | kDash)) --begin;
  std::size_t dashes = text.substr(begin, name - begin).find("--");
  if (dashes == 0 || (generous && dashes != std::string_view::npos)) return true;
  return dashes == 1 && begin > 0 && text[begin - 1] == '\\';  // after \n
}

// `login NAME` before it, as in a file of passwords for hosts.
bool follows_login(std::string_view text, std::size_t name) {
  std::size_t from = name - std::min(name, kMostLoginBytes);
  std::string_view before = text.substr(from, name - from);
  std::size_t login = before.rfind("login");
  if (login == std::string_view::npos) return false;
  std::string_view rest = before.substr(login + 5);
  std::size_t user = rest.find_first_not_of(" \t\r\n");
  if (user == 0 || user == std::string_view::npos) return false;
  std::size_t end = rest.find_first_of(" \t\r\n", user);
  return end != std::string_view::npos && rest.find_first_not_of(" \t\r\n", end) == std::string_view::npos;
}

// Generous, for JSON source, which spells line ends.
bool has_login(std::string_view text, std::size_t name) {
  std::size_t far = std::min(name, 6 * kMostLoginBytes);
  return text.substr(name - far, far).find("login") != std::string_view::npos;
}

bool blank_separates(std::string_view text, std::size_t name, bool is_password) {
  return is_option(text, name, false) || (is_password && follows_login(text, name));
}

bool ends_value(char c) {
  return static_cast<unsigned char>(c) <= ' ' || kValueEnds.find(c) != std::string_view::npos;
}

}  // namespace

bool may_follow_name(char c) {
  return c == '=' || c == ':' || c == '\\' || c == ']' || is_space(c) || is_quote(c);
}

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

std::optional<TextSpan> assigned_value(std::string_view text, std::size_t name, std::size_t after_name,
                                       bool is_password) {
  std::size_t at = skip_quote(text, after_name);
  if (at < text.size() && text[at] == ']') ++at;  // environ["TOKEN"] = …
  at = skip_spaces(text, at);
  std::size_t begin = skip_separator(text, at);
  bool by_blank = begin == at;
  if (by_blank && (at == after_name || !is_space(text[after_name]) || !blank_separates(text, name, is_password))) {
    return std::nullopt;
  }
  begin = skip_quote(text, skip_spaces(text, begin));
  std::size_t end = begin;
  std::size_t judged = std::min(text.size(), begin + kMostJudgedValueBytes);
  while (end < judged && !ends_value(text[end])) ++end;
  bool substitution = end > begin && text[end - 1] == '$';
  if (end < text.size() && text[end] == '(' && !substitution) return std::nullopt;  // a call, not a value
  std::string_view value = text.substr(begin, end - begin);
  while (!value.empty() && (value.back() == '.' || value.back() == ':')) value.remove_suffix(1);
  if (!is_plausible_value(value, is_password)) return std::nullopt;
  if (by_blank && (value.front() == '-' || value.find('=') < value.size() - 2)) return std::nullopt;  // --secret id=x
  if (end == judged) {
    while (end < text.size() && !ends_value(text[end])) ++end;
  } else {
    end = begin + value.size();
  }
  return TextSpan{begin, before_shell_syntax(text, begin, end)};
}

bool may_be_assignment(std::string_view text, std::size_t name, std::size_t after_name, bool is_password) {
  std::string_view rest = text.substr(after_name, 2);
  bool blank = !rest.empty() && (is_space(rest[0]) || rest[0] == '\\');
  if (blank && (is_option(text, name, true) || (is_password && has_login(text, name)))) return true;
  // Between name and separator there can be a quote, a bracket and spaces, each perhaps escaped once more.
  std::size_t far = std::min(text.size(), after_name + 2 * (kMostQuoteBytes + kMostSpaces + 2));
  for (std::size_t at = after_name; at < far; ++at) {
    char c = text[at];
    if (c == '=' || c == ':') return true;
    bool escaped_space = at > 0 && text[at - 1] == '\\' && (c == 'n' || c == 't' || c == 'r');
    if (!may_follow_name(c) && !escaped_space) return false;
  }
  return false;
}

}  // namespace shepherd
