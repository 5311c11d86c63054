#include "redact/secret_shapes.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <string>

#include "base/base64.h"
#include "redact/assignment.h"
#include "redact/curl_password.h"
#include "redact/encoded_secret.h"
#include "redact/pem_block.h"
#include "redact/text_class.h"

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
    {"shp_", Shape::token, "token", 16, kUrlSafe, true},  // our own: token, session, stream ticket, login code
    {"shs_", Shape::token, "token", 16, kUrlSafe, true},
    {"sht_", Shape::token, "token", 16, kUrlSafe, true},
    {"shl_", Shape::token, "token", 16, kUrlSafe, true},
    {"whsec_", Shape::token, "secret", 24, kBase64, true},  // signs webhooks, ours among them
    {"hf_", Shape::token, "token", 30, kAlnum, true},
    {"dop_v1_", Shape::token, "token", 40, kAlnum, true},
    {"pypi-AgE", Shape::token, "token", 50, kUrlSafe, true},  // the rest spells the index's address
    {"dor_v1_", Shape::token, "token", 40, kAlnum, true},
    {"doo_v1_", Shape::token, "token", 40, kAlnum, true},
    {"gldt-", Shape::token, "token", 20, kUrlSafe, false},
    {"glrt-", Shape::token, "token", 20, kUrlSafe, false},
    {"glft-", Shape::token, "token", 20, kUrlSafe, false},
    {"glptt-", Shape::token, "token", 20, kUrlSafe, false},
    {"glcbt-", Shape::token, "token", 20, kUrlSafe, false},
    {"glimt-", Shape::token, "token", 20, kUrlSafe, false},
    {"gloas-", Shape::token, "token", 20, kUrlSafe, false},
    {"glsoat-", Shape::token, "token", 20, kUrlSafe, false},
    {"glagent-", Shape::token, "token", 20, kUrlSafe, false},
    {"ya29.", Shape::token, "token", 30, kUrlSafe, true},
    {"GOCSPX-", Shape::token, "secret", 20, kUrlSafe, true},
    {"key-", Shape::token, "api_key", 32, kHex, true},
    {"rubygems_", Shape::token, "api_key", 40, kHex, true},
    {"dckr_pat_", Shape::token, "token", 20, kUrlSafe, true},
    {"dckr_oat_", Shape::token, "token", 20, kUrlSafe, true},
    {"r8_", Shape::token, "token", 30, kAlnum, true},
    {"gsk_", Shape::token, "api_key", 32, kAlnum, true},
    {"pplx-", Shape::token, "api_key", 32, kAlnum, true},
    {"xai-", Shape::token, "api_key", 32, kAlnum, true},
    {"nvapi-", Shape::token, "api_key", 40, kUrlSafe, true},
    {"HRKU-", Shape::token, "api_key", 30, kUrlSafe, true},
    {"hvs.", Shape::token, "token", 20, kUrlSafe, true},
    {"hvb.", Shape::token, "token", 20, kUrlSafe, true},
    {".atlasv1.", Shape::infix, "token", 40, kUrlSafe, false, 14, kAlnum},
    {"dp.pt.", Shape::token, "token", 30, kAlnum, true},
    {"dp.ct.", Shape::token, "token", 30, kAlnum, true},
    {"dp.sa.", Shape::token, "token", 30, kAlnum, true},
    {"dp.st.", Shape::token, "token", 30, kUrlSafe | kDotTilde, true},
    {"dapi", Shape::token, "token", 32, kHex, true},
    {"pscale_tkn_", Shape::token, "token", 30, kUrlSafe | kDotTilde, true},
    {"pscale_pw_", Shape::token, "password", 30, kUrlSafe | kDotTilde, true},
    {"sbp_", Shape::token, "token", 32, kHex, true},
    {"NRAK-", Shape::token, "api_key", 20, kDigit | kUpper, true},
    {"glsa_", Shape::token, "token", 32, kWord, true},
    {"glc_", Shape::token, "token", 24, kUrlSafe | kBase64Sign, true},
    {"sntrys_", Shape::token, "token", 30, kUrlSafe | kBase64Sign, true},
    {"sntryu_", Shape::token, "token", 40, kHex, true},
    {"lin_api_", Shape::token, "api_key", 30, kAlnum, true},
    {"ntn_", Shape::token, "token", 40, kAlnum, true},
    {"figd_", Shape::token, "token", 30, kUrlSafe, true},
    {"PMAK-", Shape::token, "api_key", 40, kHex | kDash, true},
    {"shpat_", Shape::token, "token", 30, kHex, true},
    {"shpss_", Shape::token, "secret", 30, kHex, true},
    {"shpca_", Shape::token, "token", 30, kHex, true},
    {"shppa_", Shape::token, "token", 30, kHex, true},
    {"sq0atp-", Shape::token, "token", 20, kUrlSafe, true},
    {"sq0csp-", Shape::token, "secret", 30, kUrlSafe, true},
    {"ATATT3", Shape::token, "token", 60, kUrlSafe | kBase64Sign, true},
    {"tskey-", Shape::token, "token", 20, kAlnum | kDash, true},
    {"xkeysib-", Shape::token, "api_key", 40, kAlnum | kDash, true},
    {"AGE-SECRET-KEY-1", Shape::token, "private_key", 50, kDigit | kUpper, true},
    {"v1.0-", Shape::token, "token", 60, kHex | kDash, true},
    {":AA", Shape::infix, "token", 32, kUrlSafe, false, 8, kDigit},
    {"sig=", Shape::after, "secret", 40, kBase64, true},
    {"hooks.slack.com", Shape::after, "secret", 30, kBase64, true},
    {"webhooks", Shape::after, "secret", 60, kUrlSafe | kBase64Sign, true},
    {"pat", Shape::dotted, "token", 14, kAlnum, true, 60},
    {"xapp-", Shape::token, "token", 20, kAlnum | kDash, true},
    {"SG.", Shape::dotted, "api_key", 16, kUrlSafe, true},
    {"xoxa-", Shape::token, "token", 10, kAlnum | kDash, true},
    {"xoxb-", Shape::token, "token", 10, kAlnum | kDash, true},
    {"xoxc-", Shape::token, "token", 10, kAlnum | kDash, true},
    {"xoxd-", Shape::token, "token", 10, kUrlSafe | kBase64Sign, true},
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
    {"accesskey", Shape::assignment, "api_key", 0, 0, false},
    {"accountkey", Shape::assignment, "secret", 0, 0, false},
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

// A sign of base64 in a URL: %2B, %2F, %3D.
bool is_percent_sign(std::string_view text, std::size_t at) {
  std::string_view spelled = text.substr(at, 3);
  if (spelled.size() < 3 || spelled[0] != '%') return false;
  char last = folded(spelled[2]);
  return (spelled[1] == '2' && (last == 'b' || last == 'f')) || (spelled[1] == '3' && last == 'd');
}

// Like end_of_run; a slash may be spelled \/, and any sign of base64 as in a URL.
std::size_t end_of_credential(std::string_view text, std::size_t at, std::uint8_t charset, std::size_t most) {
  std::size_t far = most < text.size() - at ? at + most : text.size();
  while (at < far) {
    if (is_percent_sign(text, at)) {
      at += 3;
      continue;
    }
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
  return end - dot - 1 < (trigger.second > 0 ? trigger.second : trigger.least) ? after : end;
}

// Where an infix token begins; `at` when too little is before its literal.
std::size_t begin_of_infix(const Trigger& trigger, std::string_view text, std::size_t at) {
  std::size_t begin = at;
  std::size_t far = at - std::min(at, 2 * trigger.second);
  while (begin > far && is_in(text[begin - 1], trigger.charset_before)) --begin;
  return at - begin < trigger.second ? at : begin;
}

// Three parts, the first one base64 of an account's number; `at` when it is none.
std::size_t end_of_discord(std::string_view text, std::size_t at) {
  constexpr std::size_t kLeastFirst = 22, kLeastSecond = 5, kLeastThird = 25;
  std::size_t first = end_of_run(text, at, kAlnum, kMostJudgedBytes);
  if (first - at < kLeastFirst || first >= text.size() || text[first] != '.') return at;
  auto number = decode_base64(text.substr(at, first - at));
  if (!number || !std::ranges::all_of(*number, [](char c) { return is_in(c, kDigit); })) return at;
  std::size_t second = end_of_run(text, first + 1, kUrlSafe, kMostJudgedBytes);
  if (second - first - 1 < kLeastSecond || second >= text.size() || text[second] != '.') return at;
  std::size_t third = end_of_run(text, second + 1, kUrlSafe);
  return third - second - 1 < kLeastThird ? at : third;
}

// An account's key is SK and 32 hexadecimal digits; a trigger has three characters.
void add_twilio(std::vector<Trigger>& all) {
  constexpr auto kLiterals = std::to_array<std::string_view>(
      {"SK0", "SK1", "SK2", "SK3", "SK4", "SK5", "SK6", "SK7", "SK8", "SK9", "SKa", "SKb", "SKc", "SKd", "SKe", "SKf"});
  for (std::string_view literal : kLiterals) all.push_back({literal, Shape::token, "api_key", 31, kHex, true});
}

// What base64 makes of three digits.
void add_discord(std::vector<Trigger>& all) {
  static std::deque<std::string> kept;
  for (int number = 100; number < 1000; ++number) {
    kept.push_back(encode_base64(std::to_string(number)));
    all.push_back({kept.back(), Shape::discord, "token", 0, 0, true});
  }
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
  if (password.empty()) return true;
  bool encoded = password.size() > 2 && password[0] == '%' && is_hex(password[1]) && is_hex(password[2]);
  return !encoded && kMarks.find(password.front()) != std::string_view::npos;
}

bool is_password(const Trigger& trigger) {
  return trigger.kind == "password";
}

}  // namespace

std::span<const Trigger> triggers() {
  static const std::vector<Trigger> everything = [] {
    std::vector<Trigger> all(kTriggers.begin(), kTriggers.end());
    add_twilio(all);
    std::vector<Trigger> encoded = encoded_triggers(all);
    add_discord(all);
    all.insert(all.end(), encoded.begin(), encoded.end());
    return all;
  }();
  return everything;
}

bool is_in_any_case(const Trigger& trigger) {
  constexpr auto kExact = std::to_array<Shape>(
      {Shape::token, Shape::dotted, Shape::jwt, Shape::curl_user, Shape::infix, Shape::discord, Shape::encoded});
  return std::ranges::find(kExact, trigger.shape) == kExact.end();
}

bool starts_with_trigger(const Trigger& trigger, std::string_view text, std::size_t at) {
  std::string_view literal = trigger.literal;
  if (text.size() - at < literal.size()) return false;
  for (std::size_t i = 0; i < literal.size(); ++i) {
    if (folded(text[at + i]) != folded(literal[i])) return false;
  }
  return is_in_any_case(trigger) || text.substr(at).starts_with(literal);
}

bool may_be_secret(const Trigger& trigger, std::string_view text, std::size_t at) {
  std::size_t after = at + trigger.literal.size();
  if (trigger.at_start && trigger.shape != Shape::encoded && !at_word_start(text, at)) return false;
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
      return may_be_assignment(text, at, after, is_password(trigger));
    case Shape::after:
      return end_of_credential(text, after, trigger.charset, trigger.least) - after >= trigger.least;
    case Shape::infix:
      return begin_of_infix(trigger, text, at) != at &&
             end_of_run(text, after, trigger.charset, trigger.least) - after >= trigger.least;
    case Shape::discord:
      return end_of_discord(text, at) != at;
    case Shape::encoded:
      return !encoded_secret(trigger, text, at, 0).empty();
    case Shape::escape: {
      // Printable ASCII and white space; other control characters are in no secret.
      std::string_view hex = text.substr(after, 2);
      if (hex.size() < 2) return false;
      return (hex[0] >= '2' && hex[0] <= '7') || (hex[0] == '0' && (hex[1] == '9' || folded(hex[1]) >= 'a'));
    }
  }
  return true;
}

std::vector<SecretSpan> secret_at(const Trigger& trigger, std::string_view text, std::size_t at, std::size_t floor) {
  std::size_t after = at + trigger.literal.size();
  if (!may_be_secret(trigger, text, at)) return {};
  Range found;
  switch (trigger.shape) {
    case Shape::token: {
      // Only a refusal may look at bytes that are looked at again, so it looks at few.
      std::size_t judged = end_of_token(text, after, trigger.charset, kMostJudgedBytes);
      std::string_view body = text.substr(after, judged - after);
      if (trigger.literal == "sk-" ? !looks_random(body) : !looks_made(body)) return {};
      found = {at, end_of_token(text, judged, trigger.charset)};
      break;
    }
    case Shape::dotted: {
      std::size_t judged = end_of_dotted(trigger, text, after);
      if (!looks_made(text.substr(after, judged - after))) return {};
      found = {at, end_of_run(text, judged, trigger.charset)};
      break;
    }
    case Shape::curl_user: {
      auto password = curl_password(text, at, after, is_attached(trigger));
      if (!password || is_placeholder(text.substr(password->begin, password->end - password->begin))) {
        return {};
      }
      found = {password->begin, password->end};
      break;
    }
    case Shape::jwt:
      found = {at, end_of_jwt(text, at)};
      break;
    case Shape::bearer: {
      found = credential_after(text, after, kBearer);
      if (!has_digit(text.substr(found.begin, found.size())) && found.size() < 2 * kLeastBearer) return {};
      break;
    }
    case Shape::basic: {
      found = credential_after(text, after, kBase64);
      if (!is_basic_credential(text.substr(found.begin, found.size()))) return {};
      break;
    }
    case Shape::pem_begin:
    case Shape::pem_end: {
      std::vector<SecretSpan> key;
      for (TextSpan piece :
           trigger.shape == Shape::pem_begin ? pem_from_begin(text, at) : pem_to_end(text, at, floor)) {
        key.push_back({piece.begin, piece.end, trigger.kind});
      }
      return key;
    }
    case Shape::url_password: {
      found = url_password(text, at);
      found.end = before_shell_syntax(text, found.begin, found.end);
      if (is_placeholder(text.substr(found.begin, found.size()))) return {};
      break;
    }
    case Shape::assignment: {
      auto value = assigned_value(text, at, after, is_password(trigger));
      if (!value) return {};
      found = {value->begin, value->end};
      break;
    }
    case Shape::after:
      found = {after, end_of_credential(text, after, trigger.charset, std::string_view::npos)};
      if (!has_digit(text.substr(after, std::min(found.size(), kMostJudgedBytes)))) return {};
      break;
    case Shape::infix:
      found = {begin_of_infix(trigger, text, at), end_of_run(text, after, trigger.charset)};
      break;
    case Shape::discord:
      found = {at, end_of_discord(text, at)};
      break;
    case Shape::encoded:
      return encoded_secret(trigger, text, at, floor);
    case Shape::escape:
      return {};
  }
  if (found.size() == 0) return {};
  return {SecretSpan{found.begin, found.end, trigger.kind}};
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
