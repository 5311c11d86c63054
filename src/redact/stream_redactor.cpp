#include "redact/stream_redactor.h"

#include <algorithm>
#include <utility>

#include "redact/curl_password.h"
#include "redact/limits.h"
#include "redact/pem_block.h"
#include "redact/text_class.h"

namespace shepherd {
namespace {

constexpr int kMostCutsTried = 8;          // each costs a pass over what is held
constexpr std::size_t kLeastKeyWord = 32;  // a word this long, of base64, may be a line of a key
constexpr std::string_view kSpaces = " \t\r\n";

bool is_beyond_ascii(char c) {
  return (static_cast<unsigned char>(c) & 0x80U) != 0;
}

// After a space, or after a character of a script that writes without spaces; secrets seldom have either inside. The
// arrow of a numbered listing is no such character: it stands between two lines of one key.
bool is_boundary(std::string_view text, std::size_t at) {
  char before = text[at - 1];
  if (kSpaces.find(before) != std::string_view::npos) return true;
  if (text.substr(0, at).ends_with(kArrow)) return false;
  return is_beyond_ascii(before) && (static_cast<unsigned char>(text[at]) & 0xC0U) != 0x80U;
}

bool is_of_key(char c) {
  return is_in(c, kAlnum | kBase64Sign) || c == '\\';
}

// text[0, end) without the spaces at its end.
std::string_view before_spaces(std::string_view text) {
  return text.substr(0, text.find_last_not_of(kSpaces) + 1);
}

// Without what tools put before a line: its number, quoting, or both.
std::string_view before_prefix(std::string_view text) {
  for (int i = 0; i < 2; ++i) {
    std::string_view rest = text;
    if (!rest.empty() && kQuoting.find(rest.back()) != std::string_view::npos) rest.remove_suffix(1);
    if (rest.ends_with(kArrow)) rest.remove_suffix(kArrow.size());
    if (rest.ends_with(':')) rest.remove_suffix(1);
    while (!rest.empty() && is_in(rest.back(), kDigit)) rest.remove_suffix(1);
    bool apart = rest.size() < text.size() && (rest.empty() || kSpaces.find(rest.back()) != std::string_view::npos);
    if (!apart) break;
    text = before_spaces(rest);
  }
  return text;
}

// What precedes the cut may be a line of a private key whose end is still to come. Quoting may stand inside the line:
// then each part of it is long and has letters of both cases, as no part of a word with hyphens has.
bool follows_key_material(std::string_view text, std::size_t at) {
  text = before_prefix(before_spaces(text.substr(0, at)));
  if (!text.empty() && kQuoting.find(text.back()) != std::string_view::npos) text.remove_suffix(1);
  std::size_t length = 0;
  while (!text.empty()) {
    std::size_t part = 0;
    bool lower = false, upper = false;
    while (part < text.size() && length + part < kLeastKeyWord && is_of_key(text[text.size() - 1 - part])) {
      char c = text[text.size() - 1 - part];
      lower = lower || is_in(c, kLower);
      upper = upper || is_in(c, kUpper);
      ++part;
    }
    length += part;
    if (length == kLeastKeyWord) return true;
    if (part < kLeastKeyLine || !lower || !upper) return false;
    text.remove_suffix(part);
    if (text.ends_with(' ')) text.remove_suffix(1);
    if (text.empty() || kQuoting.find(text.back()) == std::string_view::npos) return false;
    text.remove_suffix(1);
  }
  return false;
}

// What stands between the armour lines of a key: a line of base64, a header, or nothing.
bool is_key_line(std::string_view line) {
  std::size_t begin = line.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return true;
  line = line.substr(begin, line.find_last_not_of(kSpaces) + 1 - begin);
  auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  std::size_t colon = line.find(':');
  if (colon != std::string_view::npos) {
    return std::ranges::all_of(line.substr(0, colon), [&](char c) { return is_letter(c) || c == '-'; });
  }
  return std::ranges::all_of(line, [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '/' || c == '=' || c == '\\' || c == '-';
  });
}

// The cut lies in a private key that has begun and not ended. Behind such a cut nothing would say that it is one.
bool in_private_key(std::string_view text, std::size_t at) {
  constexpr std::string_view kBegin = "-----BEGIN ", kDashes = "-----";
  std::string_view before = text.substr(0, at);
  std::size_t begin = before.rfind(kBegin);
  if (begin == std::string_view::npos) return false;
  std::size_t end = before.find(kDashes, begin + kBegin.size());
  std::string_view armour = before.substr(begin, end == std::string_view::npos ? end : end - begin);
  if (end == std::string_view::npos)
    return armour.size() < kDeltaTailBytes && armour.find('\n') == std::string_view::npos;
  if (armour.find("PRIVATE KEY") == std::string_view::npos) return false;
  std::string_view body = before.substr(end + kDashes.size());
  if (body.find("-----END ") != std::string_view::npos) return false;
  while (!body.empty()) {
    std::size_t line = std::min(body.find('\n'), body.size());
    if (!is_key_line(body.substr(0, line))) return false;
    body.remove_prefix(std::min(line + 1, body.size()));
  }
  return true;
}

// A value with a telling name shows only by a letter or a digit that it is a secret, a password in an address by what
// follows it. So the cut must be right for the text as it is and for the text with each of these behind it. There are
// two because a value is judged by a bounded beginning: the last byte of it may be the letter or the digit.
constexpr std::string_view kTellingLetter = "a1b2c3d4@a1/";
constexpr std::string_view kTellingDigit = "1a2b3c4d@1a/";

// A text that is to be cut where redacting both sides gives the same as redacting all of it.
class CutText {
 public:
  CutText(const Redactor& redactor, std::string text)
      : redactor_(redactor), text_(std::move(text)), may_match_(redactor.may_match(text_)) {
    if (may_match_) whole_ = redactor.redact(text_);
  }

  bool may_match() const { return may_match_; }
  bool can_be_cut(std::size_t at) const {
    std::string_view text = text_;
    return !may_match_ || redactor_.redact(text.substr(0, at)) + redactor_.redact(text.substr(at)) == whole_;
  }

 private:
  const Redactor& redactor_;
  std::string text_;
  std::string whole_;  // redacted
  bool may_match_;
};

}  // namespace

// Where the held text may be cut; 0: nowhere.
std::size_t StreamRedactor::safe_end() const {
  std::size_t waiting = std::max(kDeltaTailBytes, redactor_->beginning_of_secret(held_));
  if (held_.size() <= waiting) return 0;
  CutText held(*redactor_, held_);
  CutText by_letter(*redactor_, held_ + std::string(kTellingLetter));
  CutText by_digit(*redactor_, held_ + std::string(kTellingDigit));
  bool may_match = held.may_match() || by_letter.may_match() || by_digit.may_match();
  int tried = 0;
  for (std::size_t at = held_.size() - waiting; at > 0 && tried < kMostCutsTried; --at) {
    if (!is_boundary(held_, at) || follows_key_material(held_, at) || in_private_key(held_, at)) continue;
    if (in_curl_command(held_, at)) continue;
    if (!may_match) return at;
    ++tried;
    if (held.can_be_cut(at) && by_letter.can_be_cut(at) && by_digit.can_be_cut(at)) return at;
  }
  return 0;
}

std::string StreamRedactor::add(std::string_view piece) {
  if (given_up_) return {};
  held_ += piece;
  std::size_t end = safe_end();
  std::string shown = redactor_->redact(std::string_view(held_).substr(0, end));
  held_.erase(0, end);
  if (held_.size() > kMaxHeldDeltaBytes) {
    given_up_ = true;
    held_.clear();
  }
  return shown;
}

std::string StreamRedactor::finish() {
  given_up_ = false;
  return redactor_->redact(std::exchange(held_, {}));
}

}  // namespace shepherd
