// What secrets look like: the built-in shapes, each behind a literal trigger.
//
// One table serves both sides of redaction: the prefilter asks may_be_secret() at a trigger (the text may be JSON
// source, so it is generous), redact() asks secret_at() (decoded text, exact). Whatever secret_at() finds,
// may_be_secret() admits, on the decoded text and on any JSON spelling of it. Every check reads a bounded stretch or
// one that a match then consumes, so a pass over the text stays linear. Threads: value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace shepherd {

struct SecretSpan {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string_view kind;
};

enum class Shape : std::uint8_t {
  token,         // a fixed prefix, then characters of a set
  dotted,        // the same twice, with a dot between
  jwt,           // eyJ….eyJ….…
  bearer,        // Bearer …
  basic,         // Basic base64(user:password)
  pem_begin,     // -----BEGIN … PRIVATE KEY-----
  pem_end,       // the end of a key whose beginning was cut off
  url_password,  // scheme://user:password@
  curl_user,     // curl -u user:password
  assignment,    // password=…, "api_key": "…", --token …
  after,         // what follows a literal that stays: hooks.slack.com/…
  infix,         // characters of a set before the literal, and after it: 123456789:AA…
  discord,       // base64 of a number, and two more parts
  encoded,       // another trigger in base64
  escape,        // \u00XX in JSON source, which could spell any of the others
};

struct Trigger {
  std::string_view literal;  // at least 3 bytes
  Shape shape = Shape::token;
  std::string_view kind;
  std::size_t least = 0;            // token, dotted, after, infix: characters that must follow the literal
  std::uint8_t charset = 0;         // the same: which
  bool at_start = false;            // nothing word-like may stand before it; encoded: it begins the base64
  std::size_t second = 0;           // dotted: characters after the dot, when not `least`; infix: before the literal
  std::uint8_t charset_before = 0;  // infix
  const Trigger* inner = nullptr;   // encoded: what
  std::uint8_t skip = 0;            // encoded: characters of its first group before the literal
  std::uint8_t before = 0;          // encoded: bytes from there to `inner`
};

// All of them: those that are written down, and what is derived from them.
std::span<const Trigger> triggers();

// Letter case tells a key from a word and one option from another; names and schemes come in any.
bool is_in_any_case(const Trigger& trigger);

// True when text[at..] starts with the trigger's literal, in any letter case if the trigger comes in any.
bool starts_with_trigger(const Trigger& trigger, std::string_view text, std::size_t at);

bool may_be_secret(const Trigger& trigger, std::string_view text, std::size_t at);

// The secret that the trigger at text[at] announces, in its pieces; empty: none. Nothing before `floor` is taken: it
// was replaced already. What no secret of its shape contains is in none of them, shell syntax above all.
std::vector<SecretSpan> secret_at(const Trigger& trigger, std::string_view text, std::size_t at, std::size_t floor);

// The kind of secret that a JSON member of this name and text value holds; empty when it holds none.
std::string_view secret_member_kind(std::string_view key, std::string_view value);

}  // namespace shepherd
