#include "redact/spelled_text.h"

#include <algorithm>

namespace shepherd {
namespace {

constexpr std::size_t kLeastSpelledRun = 3;  // backslashes of `\\\n`: JSON's for a backslash and a line end

int hex_value(char c) {
  if (is_in(c, kDigit)) return c - '0';
  char small = folded(c);
  return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

// The printable character spelled %XX at text[at]; 0 when there is none.
char percent_character(std::string_view text, std::size_t at) {
  if (at + 2 >= text.size() || text[at] != '%') return 0;
  int high = hex_value(text[at + 1]);
  int low = hex_value(text[at + 2]);
  if (high < 0 || low < 0) return 0;
  int value = high * 16 + low;
  bool printable = (value >= ' ' && value < 0x7f) || value == '\n' || value == '\r' || value == '\t';
  return printable ? static_cast<char>(value) : '\0';
}

bool is_url_byte(char c) {
  constexpr std::string_view kSigns = "%:@?,!*[]#";
  return is_in(c, kAlnum | kUnderscore | kDash | kBase64Sign | kDotTilde) || kSigns.find(c) != std::string_view::npos;
}

// The end of the joint at text[at]: a backslash and the line end after it; `at` when there is none.
std::size_t end_of_joint(std::string_view text, std::size_t at) {
  std::size_t after = std::min(text.find_first_not_of('\\', at), text.size());
  std::size_t count = after - at;
  if (count == 0) return at;
  if (text.substr(after).starts_with("\r\n")) return after + 2;
  if (text.substr(after).starts_with('\n')) return after + 1;
  if (count < kLeastSpelledRun) return at;
  if (text.substr(after).starts_with('n')) return after + 1;
  if (!text.substr(after).starts_with('r')) return at;
  std::size_t second = std::min(text.find_first_not_of('\\', after + 1), text.size());
  return second > after + 1 && text.substr(second).starts_with('n') ? second + 1 : at;
}

}  // namespace

std::vector<TextSpan> SpelledText::in_source(TextSpan part) const {
  std::vector<TextSpan> pieces;
  for (std::size_t i = part.begin; i < part.end; ++i) {
    if (pieces.empty() || origin[i] > pieces.back().end) pieces.push_back({origin[i], origin[i]});
    pieces.back().end = std::max<std::size_t>(pieces.back().end, ends[i]);
  }
  return pieces;
}

TextSpan next_percent_run(std::string_view text, std::size_t from) {
  for (std::size_t at = text.find('%', from); at != std::string_view::npos; at = text.find('%', at + 1)) {
    if (percent_character(text, at) == 0) continue;
    TextSpan run{at, at};
    while (run.begin > from && is_url_byte(text[run.begin - 1])) --run.begin;
    while (run.end < text.size() && is_url_byte(text[run.end])) ++run.end;
    return run;
  }
  return {text.size(), text.size()};
}

SpelledText percent_decoded(std::string_view text, TextSpan run) {
  SpelledText out;
  out.source = text;
  for (std::size_t at = run.begin; at < run.end;) {
    char spelled = percent_character(text, at);
    std::size_t length = spelled == 0 ? 1 : 3;
    out.add(spelled == 0 ? text[at] : spelled, at, at + length);
    at += length;
  }
  return out;
}

TextSpan next_joined_lines(std::string_view text, std::size_t from) {
  TextSpan none{text.size(), text.size()};
  std::size_t at = text.find('\\', from);
  while (at != std::string_view::npos) {
    char next = at + 1 < text.size() ? text[at + 1] : ' ';  // mostly a letter or a quote, and that is all to see
    bool may_join = next == '\\' || next == '\n' || next == '\r';
    if (may_join && end_of_joint(text, at) != at) break;
    at = text.find('\\', next == '\\' ? std::min(text.find_first_not_of('\\', at), text.size()) : at + 1);
  }
  if (at == std::string_view::npos) return none;
  TextSpan lines{at, end_of_joint(text, at)};
  while (lines.begin > from && text[lines.begin - 1] != '\n') --lines.begin;
  while (lines.end < text.size() && text[lines.end] != '\n') {
    std::size_t joint = text[lines.end] == '\\' ? end_of_joint(text, lines.end) : lines.end;
    std::size_t run = std::min(text.find_first_not_of('\\', lines.end), text.size());
    lines.end = joint > lines.end ? joint : std::max(run, lines.end + 1);
  }
  return lines;
}

SpelledText lines_joined(std::string_view text, TextSpan lines, bool generous) {
  SpelledText out;
  out.source = text;
  bool comment = false;
  for (std::size_t at = lines.begin; at < lines.end;) {
    std::size_t joint = text[at] == '\\' && (generous || !comment) ? end_of_joint(text, at) : at;
    if (joint > at) {
      at = joint;
      continue;
    }
    if (text[at] == '\n') comment = false;
    if (text[at] == '#' && (at == lines.begin || is_shell_syntax(text[at - 1]))) comment = true;
    if (text[at] == '\\') {  // a whole run, so that its rest is not taken for a joint
      std::size_t after = std::min(text.find_first_not_of('\\', at), text.size());
      for (; at < after; ++at) out.add(text[at], at, at + 1);
      continue;
    }
    out.add(text[at], at, at + 1);
    ++at;
  }
  return out;
}

}  // namespace shepherd
