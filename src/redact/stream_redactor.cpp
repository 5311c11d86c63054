#include "redact/stream_redactor.h"

#include <algorithm>
#include <utility>

#include "redact/curl_password.h"
#include "redact/limits.h"

namespace shepherd {
namespace {

constexpr int kMostCutsTried = 8;          // each costs a pass over what is held
constexpr std::size_t kLeastKeyWord = 32;  // a word this long, of base64, may be a line of a key
constexpr std::string_view kSpaces = " \t\r\n";

bool is_beyond_ascii(char c) {
  return (static_cast<unsigned char>(c) & 0x80U) != 0;
}

// After a space, or before a character of a script that writes without spaces; secrets seldom have either inside.
bool is_boundary(std::string_view text, std::size_t at) {
  char before = text[at - 1];
  if (kSpaces.find(before) != std::string_view::npos) return true;
  return is_beyond_ascii(before) && (static_cast<unsigned char>(text[at]) & 0xC0U) != 0x80U;
}

// The word before the cut may be a line of a private key whose end is still to come.
bool follows_key_material(std::string_view text, std::size_t at) {
  std::size_t end = text.find_last_not_of(kSpaces, at - 1);
  if (end == std::string_view::npos) return false;
  std::size_t begin = text.find_last_of(kSpaces, end);
  std::string_view word = text.substr(begin + 1, end - begin);
  return word.size() >= kLeastKeyWord && std::ranges::all_of(word, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' || c == '/' ||
                  c == '=' || c == '\\';
         });
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

}  // namespace

// Where the held text may be cut; 0: nowhere.
std::size_t StreamRedactor::safe_end() const {
  std::size_t waiting = std::max(kDeltaTailBytes, redactor_->beginning_of_secret(held_));
  if (held_.size() <= waiting) return 0;
  bool may_match = redactor_->may_match(held_);
  std::string whole = may_match ? redactor_->redact(held_) : std::string();
  int tried = 0;
  for (std::size_t at = held_.size() - waiting; at > 0 && tried < kMostCutsTried; --at) {
    if (!is_boundary(held_, at) || follows_key_material(held_, at) || in_private_key(held_, at)) continue;
    if (in_curl_command(held_, at)) continue;
    if (!may_match) return at;
    ++tried;
    std::string_view text = held_;
    if (redactor_->redact(text.substr(0, at)) + redactor_->redact(text.substr(at)) == whole) return at;
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
