#include "redact/redaction_mark.h"

#include <charconv>
#include <cstdint>

namespace shepherd {
namespace {

constexpr std::string_view kOpen = "[redacted:";
constexpr std::size_t kMostKindBytes = 16;
constexpr std::size_t kMostDigits = 10;

struct Mark {
  std::size_t length = 0;  // 0: no mark
  std::uint64_t characters = 0;
};

Mark read_mark(std::string_view text, std::size_t at) {
  if (!text.substr(at).starts_with(kOpen)) return {};
  std::size_t kind = at + kOpen.size();
  std::size_t end = end_of_run(text, kind, kLower | kUnderscore, kMostKindBytes);
  if (end == kind) return {};
  Mark mark;
  if (text.substr(end).starts_with(':')) {
    std::size_t number = end + 1;
    end = end_of_run(text, number, kDigit, kMostDigits);
    if (end == number) return {};
    std::from_chars(text.data() + number, text.data() + end, mark.characters);
  }
  if (end >= text.size() || text[end] != ']') return {};
  mark.length = end + 1 - at;
  return mark;
}

// Characters, not bytes: what follows the first byte of a character does not count.
std::uint64_t characters_of(std::string_view text) {
  std::uint64_t count = 0;
  for (std::size_t at = 0; at < text.size();) {
    Mark mark = text[at] == '[' ? read_mark(text, at) : Mark{};
    if (mark.length > 0) {
      count += mark.characters;
      at += mark.length;
      continue;
    }
    count += (static_cast<unsigned char>(text[at]) & 0xC0U) != 0x80U ? 1 : 0;
    ++at;
  }
  return count;
}

}  // namespace

std::size_t mark_at(std::string_view text, std::size_t at) {
  return read_mark(text, at).length;
}

TextSpan next_mark(std::string_view text, std::size_t from) {
  for (std::size_t at = text.find(kOpen, from); at != std::string_view::npos; at = text.find(kOpen, at + 1)) {
    if (std::size_t length = mark_at(text, at); length > 0) return {at, at + length};
  }
  return {text.size(), text.size()};
}

void append_mark(std::string& out, std::string_view kind, std::string_view replaced) {
  out.append(kOpen).append(kind).append(":").append(std::to_string(characters_of(replaced))).append("]");
}

}  // namespace shepherd
