#include "redact/text_class.h"

#include <algorithm>

namespace shepherd {
namespace {

// Longer parameter lists than 38;2;255;255;255 are not colours.
constexpr std::size_t kMostColourBytes = 20;

// JSON five times inside JSON spells a quote with 31 before it. What redaction finds behind n backslashes, the
// prefilter has to see behind 2n + 1.
constexpr std::size_t kMostBackslashes = 64;

// `[1;31m` before text[at], after an ESC byte or the escaped spelling of one.
bool after_colour(std::string_view text, std::size_t at) {
  std::size_t i = at - 1;
  std::size_t far = at > kMostColourBytes ? at - kMostColourBytes : 0;
  while (i > far && (is_in(text[i - 1], kDigit) || text[i - 1] == ';')) --i;
  if (i < 2 || text[i - 1] != '[') return false;
  char before = folded(text[i - 2]);
  return text[i - 2] == '\x1b' || before == 'b' || before == 'e' || before == '3';  // ESC, \u001b, \x1b, \e, \033
}

}  // namespace

std::size_t end_of_run(std::string_view text, std::size_t at, std::uint8_t charset, std::size_t most) {
  std::size_t end = most < text.size() - std::min(at, text.size()) ? at + most : text.size();
  while (at < end && is_in(text[at], charset)) ++at;
  return at;
}

std::size_t count_backslashes(std::string_view text, std::size_t at) {
  std::size_t count = 0;
  while (count < kMostBackslashes && at + count < text.size() && text[at + count] == '\\') ++count;
  return count;
}

std::size_t skip_blanks(std::string_view text, std::size_t at) {
  for (int blanks = 0; blanks < 8 && at < text.size(); ++blanks) {
    std::size_t escape = count_backslashes(text, at);
    bool tab = escape > 0 && text.substr(at + escape).starts_with('t');
    if (!tab && text[at] != ' ' && text[at] != '\t') break;
    at += tab ? escape + 1 : 1;
  }
  return at;
}

bool at_word_start(std::string_view text, std::size_t at) {
  if (at == 0 || !is_in(text[at - 1], kWord)) return true;
  if (at >= 2 && text[at - 2] == '\\') return true;
  if (at >= 6 && text[at - 6] == '\\' && text[at - 5] == 'u') return true;
  return is_in(text[at - 1], kLower | kUpper) && after_colour(text, at);
}

}  // namespace shepherd
