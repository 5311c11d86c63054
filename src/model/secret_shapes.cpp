#include "model/secret_shapes.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "model/assignment.h"
#include "model/base64.h"
#include "model/curl_password.h"
#include "model/pem_block.h"
#include "model/text_class.h"

namespace shepherd {
namespace {

constexpr std::uint8_t kUrlSafe = kAlnum | kUnderscore | kDash;
constexpr std::uint8_t kBearer = kUrlSafe | kBase64Sign | kDotTilde;
constexpr std::uint8_t kBase64 = kAlnum | kBase64Sign;
constexpr std::size_t kLeastBearer = 16;
constexpr std::size_t kLeastBasic = 8;
constexpr std::size_t kLeastJwtPart = 8;
constexpr std::size_t kMostJudgedBytes = 256;
constexpr std::size_t kMostAuthorityCharacters = 512;  // user, password and host of a URL

// Prefixes are written as their issuers write them; other letter cases are something else.
constexpr auto kTriggers = std::to_array<Trigger>({
    {"sk-ant-", Shape::token, "api_key", 16, kUrlSafe, true},
    {"sk-", Shape::token, "api_key", 20, kUrlSafe, true},
    {"sk_live_", Shape::token, "api_key", 16, kAlnum, true},
    {"rk_live_", Shape::token, "api_key", 16, kAlnum, true},
    {"sk_test_", Shape::token, "api_key", 16, kAlnum, true},
    {"rk_test_", Shape::token, "api_key", 16, kAlnum, true},
    {"AIza", Shape::token, "api_key", 35, kUrlSafe, true},
    {"AKIA", Shape::token, "api_key", 16, kDigit | kUpper, true},
    {"ASIA", Shape::token, "api_key", 16, kDigit | kUpper, true},
    {"ghp_", Shape::token, "token", 30, kAlnum, false},
    {"gho_", Shape::token, "token", 30, kAlnum, false},
    {"ghu_", Shape::token, "token", 30, kAlnum, false},
    {"ghs_", Shape::token, "token", 30, kAlnum, false},
    {"ghr_", Shape::token, "token", 30, kAlnum, false},
    {"github_pat_", Shape::token, "token", 22, kWord, false},
    {"glpat-", Shape::token, "token", 20, kUrlSafe, false},
    {"npm_", Shape::token, "token", 36, kAlnum, true},
    {"shp_", Shape::token, "token", 16, kUrlSafe, true},  // our own: token, stream ticket, login code
    {"sht_", Shape::token, "token", 16, kUrlSafe, true},
    {"shl_", Shape::token, "token", 16, kUrlSafe, true},
    {"whsec_", Shape::token, "secret", 24, kBase64, true},  // signs webhooks, ours among them
    {"hf_", Shape::token, "token", 30, kAlnum, true},
    {"dop_v1_", Shape::token, "token", 40, kAlnum, true},
    {"pypi-AgE", Shape::token, "token", 50, kUrlSafe, true},  // the rest spells the index's address
    {"SG.", Shape::dotted, "api_key", 16, kUrlSafe, true},
    {"xoxa-", Shape::token, "token", 10, kAlnum | kDash, true},
    {"xoxb-", Shape::token, "token", 10, kAlnum | kDash, true},
    {"xoxe-", Shape::token, "token", 10, kAlnum | kDash, true},
    {"xoxo-", Shape::token, "token", 10, kAlnum | kDash, true},
    {"xoxp-", Shape::token, "token", 10, kAlnum | kDash, true},
    {"xoxr-", Shape::token, "token", 10, kAlnum | kDash, true},
    {"xoxs-", Shape::token, "token", 10, kAlnum | kDash, true},
    {"eyJ", Shape::jwt, "token", 0, 0, true},
    {"bearer", Shape::bearer, "token", 0, 0, true},
    {"basic", Shape::basic, "password", 0, 0, true},
    {"-----BEGIN", Shape::pem_begin, "private_key", 0, 0, false},
    {"-----END", Shape::pem_end, "private_key", 0, 0, false},
    {"://", Shape::url_password, "password", 0, 0, false},
    {":/\\", Shape::url_password, "password", 0, 0, false},
    {":\\/", Shape::url_password, "password", 0, 0, false},
    {":\\\\", Shape::url_password, "password", 0, 0, false},
    {" -u", Shape::curl_user, "password", 0, 0, false},
    {"-user", Shape::curl_user, "password", 0, 0, false},
    {"password", Shape::assignment, "password", 0, 0, false},
    {"passwd", Shape::assignment, "password", 0, 0, false},
    {"passphrase", Shape::assignment, "password", 0, 0, false},
    {"pwd", Shape::assignment, "password", 0, 0, false},
    {"secret", Shape::assignment, "secret", 0, 0, false},
    {"secret_key", Shape::assignment, "secret", 0, 0, false},
    {"secret-key", Shape::assignment, "secret", 0, 0, false},
    {"secretkey", Shape::assignment, "secret", 0, 0, false},
    {"secret_access_key", Shape::assignment, "secret", 0, 0, false},
    {"secretaccesskey", Shape::assignment, "secret", 0, 0, false},
    {"token", Shape::assignment, "token", 0, 0, false},
    {"api_key", Shape::assignment, "api_key", 0, 0, false},
    {"api-key", Shape::assignment, "api_key", 0, 0, false},
    {"apikey", Shape::assignment, "api_key", 0, 0, false},
    {"access_key", Shape::assignment, "api_key", 0, 0, false},
    {"private_key", Shape::assignment, "private_key", 0, 0, false},
    {"\\u00", Shape::escape, "", 0, 0, false},
});

bool has_digit(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return is_in(c, kDigit); });
}

// Keys are random: a long unbroken stretch with a digit in it. Names in kebab-case are not.
bool looks_random(std::string_view text) {
  std::size_t longest = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::size_t end = end_of_run(text, at, kAlnum);
    longest = std::max(longest, end - at);
    at = end;
  }
  return longest >= 16 && has_digit(text);
}

// A digit, or letters of both cases where a name of that length would have underscores or dashes.
bool looks_made(std::string_view text) {
  constexpr std::size_t kLongName = 30;
  if (has_digit(text)) return true;
  auto has = [text](std::uint8_t charset) {
    return std::any_of(text.begin(), text.end(), [charset](char c) { return is_in(c, charset); });
  };
  return text.size() >= kLongName && has(kLower) && has(kUpper);
}

// Like end_of_run; a slash may be spelled \/.
std::size_t end_of_credential(std::string_view text, std::size_t at, std::uint8_t charset, std::size_t most) {
  std::size_t far = most < text.size() - at ? at + most : text.size();
  while (at < far) {
    std::size_t escape = text[at] == '\\' ? count_backslashes(text, at) : 0;
    if (escape > 0 ? !text.substr(at + escape).starts_with('/') : !is_in(text[at], charset)) break;
    at += escape + 1;
  }
  return std::min(at, text.size());
}

struct Range {
  std::size_t begin = 0, end = 0;
  std::size_t size() const { return end - begin; }
};

Range credential_after(std::string_view text, std::size_t word_end, std::uint8_t charset,
                       std::size_t most = std::string_view::npos) {
  std::size_t begin = skip_blanks(text, word_end);
  if (begin == word_end || begin >= text.size()) return {word_end, word_end};
  return {begin, end_of_credential(text, begin, charset, most)};
}

bool is_basic_credential(std::string_view text) {
  auto decoded = decode_base64(text);
  return decoded && decoded->find(':') != std::string::npos &&
         std::all_of(decoded->begin(), decoded->end(), [](char c) { return static_cast<unsigned char>(c) >= ' '; });
}

// A slash of base64 may be spelled \/; in the other sets a backslash ends the token.
std::size_t end_of_token(std::string_view text, std::size_t at, std::uint8_t charset,
                         std::size_t most = std::string_view::npos) {
  return (charset & kBase64Sign) != 0 ? end_of_credential(text, at, charset, most)
                                      : end_of_run(text, at, charset, most);
}

// Both parts of a dotted token; `after` when it is none.
std::size_t end_of_dotted(const Trigger& trigger, std::string_view text, std::size_t after) {
  std::size_t dot = end_of_run(text, after, trigger.charset, kMostJudgedBytes);
  if (dot - after < trigger.least || dot >= text.size() || text[dot] != '.') return after;
  std::size_t end = end_of_run(text, dot + 1, trigger.charset, kMostJudgedBytes);
  return end - dot - 1 < trigger.least ? after : end;
}

// The option's value may follow `-u` at once, as in -uname:password.
bool is_attached(const Trigger& trigger) {
  return trigger.literal == " -u";
}

// The second dot-separated part of a JWT starts like the first; a third part may be missing or empty. A dash before it
// makes it the middle of something longer, which was looked at from its own start.
std::size_t end_of_jwt(std::string_view text, std::size_t at) {
  if (at > 0 && text[at - 1] == '-') return at;
  std::size_t first = end_of_run(text, at + 3, kUrlSafe);
  if (first - at < kLeastJwtPart || text.substr(first, 4) != ".eyJ") return at;
  std::size_t second = end_of_run(text, first + 4, kUrlSafe);
  if (second - first < kLeastJwtPart) return at;
  return second < text.size() && text[second] == '.' ? end_of_run(text, second + 1, kUrlSafe) : second;
}

bool is_hex(char c) {
  return is_in(c, kDigit) || (folded(c) >= 'a' && folded(c) <= 'f');
}

// The length of a \uXXXX at text[at], however often its backslash is doubled; 0 when there is none.
std::size_t unicode_escape(std::string_view text, std::size_t at) {
  std::size_t backslashes = count_backslashes(text, at);
  std::string_view rest = text.substr(at + backslashes, 5);
  bool hex = rest.size() == 5 && rest[0] == 'u' && std::all_of(rest.begin() + 1, rest.end(), is_hex);
  return backslashes > 0 && hex ? backslashes + 5 : 0;
}

// The password of the URL whose scheme ends with the colon at text[colon]; empty when it has none. JSON source may
// spell slashes as \/ and other characters as \uXXXX.
Range url_password(std::string_view text, std::size_t colon) {
  constexpr std::string_view kEnds = "/?#\"'<>\\`";
  std::size_t at = colon + 1;
  for (int slashes = 0; slashes < 2; ++slashes) {
    at += count_backslashes(text, at);
    if (at >= text.size() || text[at] != '/') return {};
    ++at;
  }
  bool named = false;
  Range password;
  std::size_t begin = 0;
  for (std::size_t seen = 0; at < text.size() && seen < kMostAuthorityCharacters; ++seen) {
    char c = text[at];
    if (std::size_t escape = unicode_escape(text, at); escape > 0) {
      at += escape;
      continue;
    }
    if (static_cast<unsigned char>(c) <= ' ' || kEnds.find(c) != std::string_view::npos) break;
    ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
    if (c == ':' && !named) {
      named = true;
      begin = at;
    } else if (c == '@' && named) {
      password = {begin, at - 1};
    }
  }
  return password;
}

bool is_placeholder(std::string_view password) {
  constexpr std::string_view kMarks = "$<{%*[";
  return password.empty() || kMarks.find(password.front()) != std::string_view::npos;
}

bool is_password(const Trigger& trigger) {
  return trigger.kind == "password";
}

}  // namespace

std::span<const Trigger> triggers() {
  return kTriggers;
}

bool starts_with_trigger(const Trigger& trigger, std::string_view text, std::size_t at) {
  std::string_view literal = trigger.literal;
  if (text.size() - at < literal.size()) return false;
  for (std::size_t i = 0; i < literal.size(); ++i) {
    if (folded(text[at + i]) != folded(literal[i])) return false;
  }
  // Letter case tells a key from a word and one option from another; names and schemes come in any.
  bool any_case = trigger.shape != Shape::token && trigger.shape != Shape::dotted && trigger.shape != Shape::jwt &&
                  trigger.shape != Shape::curl_user;
  return any_case || text.substr(at).starts_with(literal);
}

bool may_be_secret(const Trigger& trigger, std::string_view text, std::size_t at) {
  std::size_t after = at + trigger.literal.size();
  if (trigger.at_start && !at_word_start(text, at)) return false;
  switch (trigger.shape) {
    case Shape::token:
      return end_of_token(text, after, trigger.charset, trigger.least) - after >= trigger.least;
    case Shape::dotted:
      return end_of_dotted(trigger, text, after) != after;
    case Shape::curl_user:
      return may_be_user_option(text, after, is_attached(trigger));
    case Shape::jwt:
      return end_of_jwt(text, at) != at;
    case Shape::bearer:
      return credential_after(text, after, kBearer, kLeastBearer).size() >= kLeastBearer;
    case Shape::basic:
      return credential_after(text, after, kBase64, kLeastBasic).size() >= kLeastBasic;
    case Shape::pem_begin:
    case Shape::pem_end:
      return is_private_key_armour(text, at);
    case Shape::url_password:
      return url_password(text, at).size() > 0;
    case Shape::assignment:
      return may_be_assignment(text, after);
    case Shape::escape: {
      // Printable ASCII and white space; other control characters are in no secret.
      std::string_view hex = text.substr(after, 2);
      if (hex.size() < 2) return false;
      return (hex[0] >= '2' && hex[0] <= '7') || (hex[0] == '0' && (hex[1] == '9' || folded(hex[1]) >= 'a'));
    }
  }
  return true;
}

std::optional<SecretSpan> secret_at(const Trigger& trigger, std::string_view text, std::size_t at, std::size_t floor) {
  std::size_t after = at + trigger.literal.size();
  if (!may_be_secret(trigger, text, at)) return std::nullopt;
  Range found;
  switch (trigger.shape) {
    case Shape::token: {
      // Only a refusal may look at bytes that are looked at again, so it looks at few.
      std::size_t judged = end_of_token(text, after, trigger.charset, kMostJudgedBytes);
      std::string_view body = text.substr(after, judged - after);
      if (trigger.literal == "sk-" ? !looks_random(body) : !looks_made(body)) return std::nullopt;
      found = {at, end_of_token(text, judged, trigger.charset)};
      break;
    }
    case Shape::dotted: {
      std::size_t judged = end_of_dotted(trigger, text, after);
      if (!looks_made(text.substr(after, judged - after))) return std::nullopt;
      found = {at, end_of_run(text, judged, trigger.charset)};
      break;
    }
    case Shape::curl_user: {
      auto password = curl_password(text, at, after, is_attached(trigger));
      if (!password || is_placeholder(text.substr(password->begin, password->end - password->begin))) {
        return std::nullopt;
      }
      found = {password->begin, password->end};
      break;
    }
    case Shape::jwt:
      found = {at, end_of_jwt(text, at)};
      break;
    case Shape::bearer: {
      found = credential_after(text, after, kBearer);
      if (!has_digit(text.substr(found.begin, found.size())) && found.size() < 2 * kLeastBearer) return std::nullopt;
      break;
    }
    case Shape::basic: {
      found = credential_after(text, after, kBase64);
      if (!is_basic_credential(text.substr(found.begin, found.size()))) return std::nullopt;
      break;
    }
    case Shape::pem_begin:
    case Shape::pem_end: {
      auto block = trigger.shape == Shape::pem_begin ? pem_from_begin(text, at) : pem_to_end(text, at, floor);
      if (!block) return std::nullopt;
      found = {block->begin, block->end};
      break;
    }
    case Shape::url_password: {
      found = url_password(text, at);
      if (is_placeholder(text.substr(found.begin, found.size()))) return std::nullopt;
      break;
    }
    case Shape::assignment: {
      auto value = assigned_value(text, after, is_password(trigger));
      if (!value) return std::nullopt;
      found = {value->begin, value->end};
      break;
    }
    case Shape::escape:
      return std::nullopt;
  }
  return SecretSpan{found.begin, found.end, trigger.kind};
}

std::string_view secret_member_kind(std::string_view key, std::string_view value) {
  for (const auto& trigger : kTriggers) {
    if (trigger.shape != Shape::assignment || key.size() < trigger.literal.size()) continue;
    if (!starts_with_trigger(trigger, key, key.size() - trigger.literal.size())) continue;
    bool one_word = value.find_first_of(" \t\r\n") == std::string_view::npos;
    return one_word && is_plausible_value(value, is_password(trigger)) ? trigger.kind : std::string_view();
  }
  return {};
}

}  // namespace shepherd
