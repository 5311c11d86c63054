#include "redact/pem_block.h"

#include <algorithm>

#include "redact/text_class.h"

namespace shepherd {
namespace {

constexpr std::size_t kMostArmourBytes = 64;
constexpr std::size_t kBytesPerSlash = 8;  // base64 has one in 64
constexpr std::size_t kMostHeaderBytes = 160;
constexpr int kMostHeaders = 8;
constexpr std::size_t kMostNumberDigits = 7;  // of a line
constexpr std::string_view kPrivateKey = "PRIVATE KEY";
constexpr std::string_view kDashes = "-----";

// Where the armour line at text[at] ends: after its closing dashes, or after its words when those are cut off.
std::size_t end_of_armour(std::string_view text, std::size_t at) {
  std::size_t words = text.substr(at, kMostArmourBytes).find(kPrivateKey);
  if (words == std::string_view::npos) return words;
  std::string_view label = text.substr(at + kDashes.size(), words - kDashes.size());
  if (label.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ") != std::string_view::npos) {
    return std::string_view::npos;
  }
  std::size_t end = at + words + kPrivateKey.size();
  constexpr std::string_view kBlock = " BLOCK";
  if (text.substr(end).starts_with(kBlock)) end += kBlock.size();
  return text.substr(end).starts_with(kDashes) ? end + kDashes.size() : end;
}

// All backslashes there: JSON inside JSON doubles them with each level.
std::size_t skip_backslashes(std::string_view text, std::size_t at) {
  return std::min(text.find_first_not_of('\\', at), text.size());
}

// White space, also spelled \n inside another string.
std::size_t skip_breaks(std::string_view text, std::size_t at) {
  constexpr std::string_view kBlanks = " \t\r\n";
  constexpr std::string_view kLetters = "nrt";
  while (at < text.size()) {
    if (kBlanks.find(text[at]) != std::string_view::npos) {
      ++at;
      continue;
    }
    std::size_t letter = skip_backslashes(text, at);
    if (letter == at || letter >= text.size() || kLetters.find(text[letter]) == std::string_view::npos) break;
    at = letter + 1;
  }
  return at;
}

// `12→`, `12<tab>`, `12:` before a line; no shell does anything with it.
std::size_t skip_line_number(std::string_view text, std::size_t at) {
  std::size_t digits = end_of_run(text, at, kDigit, kMostNumberDigits);
  if (digits == at || digits >= text.size()) return at;
  if (text[digits] == ':') return digits + 1;
  if (text.substr(digits).starts_with(kArrow)) return digits + kArrow.size();
  if (std::size_t escape = skip_backslashes(text, digits);
      escape > digits && text.substr(escape).starts_with("u2192")) {
    return escape + 5;
  }
  std::size_t tab = skip_backslashes(text, digits);
  bool is_tab = text.substr(tab).starts_with(tab > digits ? 't' : '\t');
  return is_tab ? tab + 1 : at;
}

// What quoting puts before a line. It stays: to a shell it may be more.
std::size_t skip_quoting(std::string_view text, std::size_t at) {
  if (at >= text.size() || kQuoting.find(text[at]) == std::string_view::npos) return at;
  if (text.substr(at).starts_with(kDashes)) return at;
  return at + (text.substr(at + 1).starts_with(' ') ? 2 : 1);
}

// Like end_of_run for base64; a slash may be spelled \/.
std::size_t end_of_base64(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    std::size_t escaped = skip_backslashes(text, at);
    if (escaped > at && !text.substr(escaped).starts_with('/')) break;
    if (escaped == at && !is_in(text[at], kAlnum | kBase64Sign)) break;
    at = escaped + 1;
  }
  return at;
}

bool is_end_line(std::string_view text, std::size_t at) {
  return text.substr(at).starts_with("-----END") && end_of_armour(text, at) != std::string_view::npos;
}

// A line of a key has letters of both cases, which the name of a program seldom has, and few slashes, of which a path
// has many; the rest at a key's end may be short, and then has anything that a word has not.
bool is_material(std::string_view text, std::size_t begin, std::size_t end) {
  std::string_view word = text.substr(begin, end - begin);
  auto has = [word](std::uint8_t charset) {
    return std::ranges::any_of(word, [charset](char c) { return is_in(c, charset); });
  };
  bool both_cases = has(kLower) && has(kUpper);
  std::size_t slashes = static_cast<std::size_t>(std::ranges::count(word, '/'));
  if (slashes > std::max<std::size_t>(1, word.size() / kBytesPerSlash)) return false;
  if (word.size() >= kLeastKeyLine) return both_cases || (word.back() == '=' && has(kDigit));
  bool made = both_cases || has(kDigit | kBase64Sign);
  return !word.empty() && made && is_end_line(text, skip_breaks(text, end));
}

// `Proc-Type: 4,ENCRYPTED`; its end, or `at` when there is none.
std::size_t end_of_header(std::string_view text, std::size_t at) {
  std::size_t name = end_of_run(text, at, kAlnum | kDash, 32);
  if (name == at || !text.substr(name).starts_with(": ")) return at;
  std::string_view rest = text.substr(name, kMostHeaderBytes);
  std::size_t length = rest.find_first_of("\n\\");
  if (length == std::string_view::npos && name + rest.size() < text.size()) return at;
  return name + std::min(length, rest.size());
}

// The text ends in what may yet become a line of base64 or a header.
bool is_unfinished(std::string_view text, std::size_t at) {
  if (end_of_base64(text, at) == text.size()) return true;
  std::size_t name = end_of_run(text, at, kAlnum | kDash, 32);
  return name == text.size() || (text[name] == ':' && name + 1 == text.size());
}

enum class Part : std::uint8_t { nothing, cut_off, material, end_line, header };

struct Line {
  Part part = Part::nothing;
  TextSpan span;
  bool quoted = false;  // something before it stays
};

// What comes next of a key, from the end of the part before.
Line next_line(std::string_view text, std::size_t at) {
  std::size_t begin = skip_breaks(text, at);
  if (begin == text.size()) return {Part::cut_off, {begin, begin}};
  std::size_t number = skip_line_number(text, begin);
  std::size_t plain = number > begin ? skip_breaks(text, number) : begin;
  std::size_t from = skip_quoting(text, plain);
  bool quoted = from > plain;
  if (is_end_line(text, from)) return {Part::end_line, {from, end_of_armour(text, from)}, quoted};
  std::size_t end = end_of_base64(text, from);
  if (is_material(text, from, end)) return {Part::material, {from, end}, quoted};
  if (end = end_of_header(text, from); end > from) return {Part::header, {from, end}};
  if (is_unfinished(text, from)) return {Part::cut_off, {text.size(), text.size()}};
  return {Part::nothing, {from, std::max(from + 1, end_of_base64(text, from))}};
}

// A line joins the piece before it when nothing that stays is between them.
void take(std::vector<TextSpan>& pieces, const Line& line, bool apart) {
  if (apart || line.quoted || pieces.empty()) {
    pieces.push_back(line.span);
  } else {
    pieces.back().end = line.span.end;
  }
}

}  // namespace

bool is_private_key_armour(std::string_view text, std::size_t at) {
  return end_of_armour(text, at) != std::string_view::npos;
}

std::vector<TextSpan> pem_from_begin(std::string_view text, std::size_t begin) {
  std::size_t at = end_of_armour(text, begin);
  if (at == std::string_view::npos) return {};
  std::vector<TextSpan> pieces{{begin, at}};
  bool found = false;
  bool apart = false;
  for (int headers = 0;;) {
    Line line = next_line(text, at);
    if (line.part == Part::header && !found && ++headers <= kMostHeaders) {
      apart = true;
      at = line.span.end;
      continue;
    }
    // The armour alone is no secret, unless the text ends before its key.
    if (line.part == Part::cut_off && !found) return pieces;
    if (line.part == Part::end_line && found) take(pieces, line, apart);
    if (line.part != Part::material) break;
    take(pieces, line, apart);
    apart = false;
    found = true;
    at = line.span.end;
  }
  if (!found) pieces.clear();
  return pieces;
}

std::vector<TextSpan> pem_to_end(std::string_view text, std::size_t at, std::size_t floor) {
  if (!is_private_key_armour(text, at)) return {};
  // Where the key may have begun: not before other dashes, so that no two ends look at the same text.
  std::size_t dashes = at >= kDashes.size() ? text.rfind(kDashes, at - kDashes.size()) : std::string_view::npos;
  std::size_t from = dashes == std::string_view::npos ? floor : std::max(floor, dashes + kDashes.size());
  std::vector<TextSpan> pieces;
  while (from < at) {
    Line line = next_line(text, from);
    if (line.span.begin >= at) break;
    if (line.part == Part::material) {
      take(pieces, line, false);
    } else {
      pieces.clear();
    }
    from = line.span.end;
  }
  if (!pieces.empty()) take(pieces, next_line(text, pieces.back().end), false);
  return pieces;
}

}  // namespace shepherd
