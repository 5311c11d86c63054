// Byte classes for redaction, and where a token can start inside escaped or coloured text.
// Threads: value.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace shepherd {

struct TextSpan {
  std::size_t begin = 0;
  std::size_t end = 0;
};

inline constexpr std::uint8_t kDigit = 1;
inline constexpr std::uint8_t kLower = 2;
inline constexpr std::uint8_t kUpper = 4;
inline constexpr std::uint8_t kUnderscore = 8;
inline constexpr std::uint8_t kDash = 16;
inline constexpr std::uint8_t kBase64Sign = 32;  // + / =
inline constexpr std::uint8_t kDotTilde = 64;    // . ~
inline constexpr std::uint8_t kHexLetter = 128;  // a to f in either case, which are letters too
inline constexpr std::uint8_t kHex = kDigit | kHexLetter;
inline constexpr std::uint8_t kAlnum = kDigit | kLower | kUpper;
inline constexpr std::uint8_t kWord = kAlnum | kUnderscore;

inline constexpr std::array<std::uint8_t, 256> kByteClass = [] {
  std::array<std::uint8_t, 256> classes{};
  for (unsigned c = '0'; c <= '9'; ++c) classes[c] = kDigit;
  for (unsigned c = 'a'; c <= 'z'; ++c) classes[c] = kLower;
  for (unsigned c = 'A'; c <= 'Z'; ++c) classes[c] = kUpper;
  for (unsigned c = 'a'; c <= 'f'; ++c) classes[c] |= kHexLetter;
  for (unsigned c = 'A'; c <= 'F'; ++c) classes[c] |= kHexLetter;
  classes['_'] = kUnderscore;
  classes['-'] = kDash;
  classes['+'] = classes['/'] = classes['='] = kBase64Sign;
  classes['.'] = classes['~'] = kDotTilde;
  return classes;
}();

constexpr bool is_in(char c, std::uint8_t charset) {
  return (kByteClass[static_cast<unsigned char>(c)] & charset) != 0;
}
constexpr char folded(char c) {
  return is_in(c, kUpper) ? static_cast<char>(c | 0x20) : c;
}

// Ends a word in a shell, or makes one of its own. No mark may stand for it: what it hides could run.
constexpr bool is_shell_syntax(char c) {
  constexpr std::string_view kSigns = ";&|$()<>`\"'\\\x7f";
  return static_cast<unsigned char>(c) <= ' ' || kSigns.find(c) != std::string_view::npos;
}

// The end of the part of text[begin, end) before the first shell syntax in it.
constexpr std::size_t before_shell_syntax(std::string_view text, std::size_t begin, std::size_t end) {
  while (begin < end && !is_shell_syntax(text[begin])) ++begin;
  return begin;
}

// The end of the run of `charset` bytes that starts at text[at], looking at most `most` bytes far.
std::size_t end_of_run(std::string_view text, std::size_t at, std::uint8_t charset,
                       std::size_t most = std::string_view::npos);

// How many bytes at text[at] are backslashes that escape something: JSON inside JSON doubles them.
std::size_t count_backslashes(std::string_view text, std::size_t at);

// The end of the at most eight blanks at text[at]; in JSON source a tab is spelled \t.
std::size_t skip_blanks(std::string_view text, std::size_t at);

// True when a word may start at text[at]: after a non-word byte, after an escape (\n, \u001b) or after a terminal
// colour sequence, whose last letter would otherwise look like part of the word.
bool at_word_start(std::string_view text, std::size_t at);

}  // namespace shepherd
