#include "redact/eager_redactor.h"

#include <algorithm>
#include <utility>

#include "redact/limits.h"

namespace shepherd {
namespace {

bool is_a_digit(char c) {
  return c >= '0' && c <= '9';
}

// The end of the text may be the beginning of a number that must not be shown, such as a card's.
bool ends_with_number(std::string_view text) {
  std::size_t digits = 0;
  for (auto c = text.rbegin(); c != text.rend() && (is_a_digit(*c) || *c == ' ' || *c == '-'); ++c) {
    digits += is_a_digit(*c) ? 1 : 0;
  }
  return digits >= kPlainDigits;
}

// Words of prose and Markdown, and not keys, addresses or values with a name.
bool is_plain_word(std::string_view word) {
  constexpr std::string_view kMarks = ".,;:!?'\"()*`#>-";
  if (word.size() > kPlainWordBytes || word.find("---") != std::string_view::npos) return false;  // dashes begin a key
  if (word.size() > kPlainMixedBytes && std::ranges::any_of(word, is_a_digit)) return false;
  std::size_t end = word.find_last_not_of(kMarks);
  if (end == std::string_view::npos) return true;
  return std::ranges::all_of(word.substr(0, end + 1), [&](char c) {
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (static_cast<unsigned char>(c) & 0x80U) != 0;
    return letter || is_a_digit(c) || c == '\'' || c == '"' || c == '(' || c == '*' || c == '`' || c == '#' ||
           c == '-' || c == '>';
  });
}

}  // namespace

bool EagerRedactor::plain(std::string_view text) const {
  if (redactor_->may_match(text) || redactor_->beginning_of_secret(text) > 0 || ends_with_number(text)) return false;
  // The words before the last one count, too: a key can go on behind a line end.
  while (!text.empty()) {
    std::size_t end = text.find_first_of(" \t\r\n");
    if (!is_plain_word(text.substr(0, end))) return false;
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return true;
}

// The stream's redactor repeats what has left already. Where it has replaced some of that, the replacement is shown.
std::string EagerRedactor::without_shown(std::string text) {
  std::size_t same = 0;
  while (same < text.size() && same < skipped_.size() && text[same] == skipped_[same]) ++same;
  if (same < text.size()) {
    skipped_.clear();
  } else {
    skipped_.erase(0, same);
  }
  text.erase(0, same);
  return text;
}

std::string EagerRedactor::add(std::string_view piece) {
  std::string out;
  if (!holding_) {
    shown_ += piece;
    if (plain(shown_)) {
      if (shown_.size() > 2 * kDeltaTailBytes) {  // the rest is too far away to say what follows
        std::size_t cut = shown_.size() - kDeltaTailBytes;
        while (cut < shown_.size() && (static_cast<unsigned char>(shown_[cut]) & 0xC0U) == 0x80U) ++cut;
        shown_.erase(0, cut);
      }
      return std::string(piece);
    }
    holding_ = true;
    skipped_ = shown_.substr(0, shown_.size() - piece.size());
    out = without_shown(stream_.add(std::exchange(shown_, {})));
  } else {
    out = without_shown(stream_.add(piece));
  }
  if (stream_.gave_up() || !plain(stream_.held())) return out;
  shown_ = stream_.held();
  holding_ = false;
  out += without_shown(stream_.finish());
  skipped_.clear();
  return out;
}

std::string EagerRedactor::finish() {
  std::string out = without_shown(stream_.finish());
  holding_ = false;
  shown_.clear();
  skipped_.clear();
  return out;
}

}  // namespace shepherd
