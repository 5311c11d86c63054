#include "redact/curl_password.h"

#include <algorithm>

#include "redact/text_class.h"

namespace shepherd {
namespace {

constexpr std::size_t kMostUserBytes = 64;      // further away a colon belongs to something else
constexpr std::size_t kMostSpelling = 6;        // bytes of JSON source for one of text: \u007f
constexpr std::size_t kMostCommandBytes = 512;  // from `curl` to the option
constexpr std::string_view kQuotes = "\"'`";

struct Value {
  std::size_t begin = 0;
  bool quoted = false;
};

// Where the option's value begins; nullopt when nothing separates it from an option that needs that.
std::optional<Value> value_after(std::string_view text, std::size_t after, bool attached) {
  std::size_t at = skip_blanks(text, after);
  if (at == after && at < text.size() && text[at] == '=') ++at;
  if (at == after && !attached) return std::nullopt;
  std::size_t quote = at + count_backslashes(text, at);
  if (quote >= text.size()) return std::nullopt;
  if (kQuotes.find(text[quote]) != std::string_view::npos) return Value{quote + 1, true};
  return Value{at, false};
}

bool ends_user(char c, bool quoted) {
  auto byte = static_cast<unsigned char>(c);
  return byte < ' ' || (c == ' ' && !quoted) || c == '\\' || kQuotes.find(c) != std::string_view::npos;
}

}  // namespace

bool in_curl_command(std::string_view text, std::size_t at) {
  std::size_t from = at - std::min(at, kMostCommandBytes);
  std::string_view before = text.substr(from, at - from);
  std::size_t curl = before.rfind("curl");
  if (curl == std::string_view::npos) return false;
  for (std::size_t line = before.find('\n', curl); line != std::string_view::npos; line = before.find('\n', line + 1)) {
    std::size_t last = line > 0 && before[line - 1] == '\r' ? line - 1 : line;
    if (last == 0 || before[last - 1] != '\\') return false;  // the command does not go on in the next line
  }
  return true;
}

bool may_be_user_option(std::string_view text, std::size_t after, bool attached) {
  auto value = value_after(text, after, attached);
  if (!value) return false;
  std::size_t far = std::min(text.size(), value->begin + kMostUserBytes * kMostSpelling);
  for (std::size_t at = value->begin; at < far; ++at) {
    if (text[at] == ':') return true;
    if (!value->quoted && text[at] == ' ') return false;
    if (kQuotes.find(text[at]) != std::string_view::npos) return false;  // the value ends
  }
  return false;
}

std::optional<TextSpan> curl_password(std::string_view text, std::size_t at, std::size_t after, bool attached) {
  auto value = value_after(text, after, attached);
  if (!value) return std::nullopt;
  std::size_t colon = value->begin;
  std::size_t far = std::min(text.size(), colon + kMostUserBytes);
  while (colon < far && text[colon] != ':' && !ends_user(text[colon], value->quoted)) ++colon;
  if (colon == value->begin || colon >= far || text[colon] != ':') return std::nullopt;
  std::string_view user = text.substr(value->begin, colon - value->begin);
  bool is_uid = std::ranges::all_of(user, [](char c) { return is_in(c, kDigit); });
  if (is_uid || !in_curl_command(text, at)) return std::nullopt;
  // Quotes before it may be the end of others, so quoted or not, a password ends where a shell's word would.
  return TextSpan{colon + 1, before_shell_syntax(text, colon + 1, text.size())};
}

}  // namespace shepherd
