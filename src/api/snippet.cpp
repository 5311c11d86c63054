#include "api/snippet.h"

#include <algorithm>
#include <cctype>

namespace shepherd {
namespace {

constexpr std::size_t kSnippetBytes = 160;
constexpr std::size_t kLeadBytes = 60;  // maximum part of it before the word

char folded(char c) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

std::size_t find_folded(std::string_view text, std::string_view word) {
  auto found = std::search(text.begin(), text.end(), word.begin(), word.end(),
                           [](char a, char b) { return folded(a) == folded(b); });
  return found == text.end() ? std::string_view::npos : static_cast<std::size_t>(found - text.begin());
}

bool is_word_byte(char c) {
  auto byte = static_cast<unsigned char>(c);
  return std::isalnum(byte) || byte >= 0x80 || c == '_';
}

// The position of the first required word of the query.
std::size_t find_any_word(std::string_view text, std::string_view query) {
  std::size_t i = 0;
  while (i < query.size()) {
    if (!is_word_byte(query[i])) {
      ++i;
      continue;
    }
    std::size_t begin = i;
    while (i < query.size() && is_word_byte(query[i])) ++i;
    std::string_view word = query.substr(begin, i - begin);
    bool excluded = begin > 0 && query[begin - 1] == '-' && (begin == 1 || query[begin - 2] == ' ');
    if (excluded || word == "OR") continue;
    if (std::size_t at = find_folded(text, word); at != std::string_view::npos) return at;
  }
  return 0;
}

bool inside_character(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
}

}  // namespace

std::string snippet(std::string_view text, std::string_view query) {
  if (text.size() <= kSnippetBytes) return std::string(text);
  std::size_t found = find_any_word(text, query);
  std::size_t begin = found > kLeadBytes ? found - kLeadBytes : 0;
  while (inside_character(text, begin)) ++begin;
  std::size_t end = std::min(begin + kSnippetBytes, text.size());
  while (end > begin && inside_character(text, end)) --end;
  std::string out = begin > 0 ? "…" : "";
  out += text.substr(begin, end - begin);
  if (end < text.size()) out += "…";
  return out;
}

}  // namespace shepherd
