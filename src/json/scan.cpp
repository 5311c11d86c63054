#include "json/scan.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace shepherd {
namespace {

#if defined(__SSE2__)
constexpr std::size_t kBlock = 16;

// Bit i tells that byte i of the block at `bytes` is a quote or a backslash.
std::uint32_t string_marks(const char* bytes) {
  __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
  __m128i quotes = _mm_cmpeq_epi8(block, _mm_set1_epi8('"'));
  __m128i backslashes = _mm_cmpeq_epi8(block, _mm_set1_epi8('\\'));
  return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_or_si128(quotes, backslashes)));
}
#else
constexpr std::size_t kBlock = 8;

std::uint32_t string_marks(const char* bytes) {
  std::uint32_t marks = 0;
  for (std::size_t i = 0; i < kBlock; ++i) {
    marks |= static_cast<std::uint32_t>(bytes[i] == '"' || bytes[i] == '\\') << i;
  }
  return marks;
}
#endif

// One past the closing quote of the string whose first byte after the opening quote is `at`; npos when unclosed.
std::size_t end_of_string(std::string_view json, std::size_t at) {
  while (at + kBlock <= json.size()) {
    std::uint32_t marks = string_marks(json.data() + at);
    if (marks == 0) {
      at += kBlock;
      continue;
    }
    at += static_cast<std::size_t>(std::countr_zero(marks));
    if (json[at] == '"') return at + 1;
    at += 2;
  }
  for (; at < json.size(); ++at) {
    if (json[at] == '"') return at + 1;
    if (json[at] == '\\') ++at;
  }
  return std::string_view::npos;
}

std::size_t end_of_container(std::string_view json, std::size_t at, std::size_t* deepest) {
  std::size_t depth = 0;
  std::size_t deep = 0;
  while (at < json.size()) {
    switch (json[at]) {
      case '"':
        at = end_of_string(json, at + 1);
        if (at == std::string_view::npos) return at;
        continue;
      case '{':
      case '[':
        if (++depth > deep) deep = depth;
        break;
      case '}':
      case ']':
        if (--depth == 0) {
          if (deepest != nullptr && deep > *deepest) *deepest = deep;
          return at + 1;
        }
        break;
      default:
        break;
    }
    ++at;
  }
  return std::string_view::npos;
}

std::size_t skip_blanks(std::string_view json, std::size_t at) {
  while (at < json.size() && (json[at] == ' ' || json[at] == '\n' || json[at] == '\r' || json[at] == '\t')) ++at;
  return at;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Four hex digits at text[at]; -1 when they are not there.
int hex_quad(std::string_view text, std::size_t at) {
  if (at + 4 > text.size()) return -1;
  int value = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    int digit = hex_digit(text[at + i]);
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

void append_utf8(std::string& out, std::uint32_t point) {
  auto put = [&out](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (point < 0x80) {
    put(point);
  } else if (point < 0x800) {
    put(0xC0 | point >> 6);
    put(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    put(0xE0 | point >> 12);
    put(0x80 | (point >> 6 & 0x3F));
    put(0x80 | (point & 0x3F));
  } else {
    put(0xF0 | point >> 18);
    put(0x80 | (point >> 12 & 0x3F));
    put(0x80 | (point >> 6 & 0x3F));
    put(0x80 | (point & 0x3F));
  }
}

// Resolves \uXXXX (a pair of them for a surrogate) at text[at] == 'u'; the number of bytes used, 0 when malformed.
std::size_t append_unicode_escape(std::string& out, std::string_view text, std::size_t at) {
  int first = hex_quad(text, at + 1);
  if (first < 0) return 0;
  auto point = static_cast<std::uint32_t>(first);
  std::size_t used = 5;
  if (point >= 0xD800 && point < 0xE000) {
    int second = text.substr(at + used, 2) == "\\u" ? hex_quad(text, at + 7) : -1;
    if (point < 0xDC00 && second >= 0xDC00 && second < 0xE000) {
      point = 0x10000 + ((point - 0xD800) << 10) + (static_cast<std::uint32_t>(second) - 0xDC00);
      used = 11;
    } else {
      point = 0xFFFD;
    }
  }
  append_utf8(out, point);
  return used;
}

}  // namespace

std::size_t end_of_value(std::string_view json, std::size_t at, std::size_t* depth) {
  if (at >= json.size()) return std::string_view::npos;
  switch (json[at]) {
    case '"':
      return end_of_string(json, at + 1);
    case '{':
    case '[':
      return end_of_container(json, at, depth);
    default: {
      std::size_t end = at;
      while (end < json.size() && json[end] > ' ' && json[end] != ',' && json[end] != '}' && json[end] != ']') ++end;
      return end == at ? std::string_view::npos : end;
    }
  }
}

JsonMembers::JsonMembers(std::string_view json) : json_(json), at_(skip_blanks(json, 0)) {
  object_ = at_ < json_.size() && json_[at_] == '{';
  if (object_) at_ = skip_blanks(json_, at_ + 1);
}

bool JsonMembers::next() {
  if (at_ >= json_.size() || json_[at_] != '"') return false;
  std::size_t key_end = end_of_string(json_, at_ + 1);
  if (key_end == std::string_view::npos) return false;
  std::size_t colon = skip_blanks(json_, key_end);
  if (colon >= json_.size() || json_[colon] != ':') return false;
  std::size_t value = skip_blanks(json_, colon + 1);
  depth_ = 0;
  std::size_t end = end_of_value(json_, value, &depth_);
  if (end == std::string_view::npos) return false;
  key_ = json_.substr(at_ + 1, key_end - at_ - 2);
  value_ = json_.substr(value, end - value);
  at_ = skip_blanks(json_, end);
  if (at_ < json_.size() && json_[at_] == ',') at_ = skip_blanks(json_, at_ + 1);
  return true;
}

std::size_t JsonMembers::end() const {
  return object_ && at_ < json_.size() && json_[at_] == '}' ? at_ + 1 : std::string_view::npos;
}

std::string_view find_member(std::string_view json, std::string_view key) {
  JsonMembers members(json);
  while (members.next()) {
    if (members.key() == key) return members.value();
  }
  return {};
}

std::string text_member(std::string_view json, std::string_view key) {
  return string_value(find_member(json, key)).value_or("");
}

std::optional<std::vector<std::string_view>> array_elements(std::string_view json) {
  std::size_t at = skip_blanks(json, 0);
  if (at >= json.size() || json[at] != '[') return std::nullopt;
  std::vector<std::string_view> elements;
  at = skip_blanks(json, at + 1);
  if (at < json.size() && json[at] == ']') return elements;
  while (true) {
    std::size_t end = end_of_value(json, at);
    if (end == std::string_view::npos) return std::nullopt;
    elements.push_back(json.substr(at, end - at));
    at = skip_blanks(json, end);
    if (at < json.size() && json[at] == ']') return elements;
    if (at >= json.size() || json[at] != ',') return std::nullopt;
    at = skip_blanks(json, at + 1);
  }
}

std::size_t longest_string(std::string_view json) {
  std::size_t longest = 0;
  for (std::size_t at = json.find('"'); at != std::string_view::npos; at = json.find('"', at)) {
    std::size_t end = end_of_string(json, at + 1);
    if (end == std::string_view::npos) break;
    longest = std::max(longest, end - at - 2);
    at = end;
  }
  return longest;
}

std::string_view inside_quotes(std::string_view json) {
  return json.size() < 2 || json.front() != '"' ? std::string_view() : json.substr(1, json.size() - 2);
}

std::optional<std::string> unescape(std::string_view escaped) {
  std::string out;
  out.reserve(escaped.size());
  while (!escaped.empty()) {
    std::size_t plain = escaped.find('\\');
    out.append(escaped.substr(0, plain));
    if (plain == std::string_view::npos) break;
    escaped.remove_prefix(plain + 1);
    if (escaped.empty()) return std::nullopt;
    std::size_t used = 1;
    switch (escaped.front()) {
      case '"':
        out.push_back('"');
        break;
      case '\\':
        out.push_back('\\');
        break;
      case '/':
        out.push_back('/');
        break;
      case 'b':
        out.push_back('\b');
        break;
      case 'f':
        out.push_back('\f');
        break;
      case 'n':
        out.push_back('\n');
        break;
      case 'r':
        out.push_back('\r');
        break;
      case 't':
        out.push_back('\t');
        break;
      case 'u':
        used = append_unicode_escape(out, escaped, 0);
        break;
      default:
        used = 0;
        break;
    }
    if (used == 0) return std::nullopt;
    escaped.remove_prefix(used);
  }
  return out;
}

std::optional<std::string> string_value(std::string_view json) {
  if (json.size() < 2 || json.front() != '"' || json.back() != '"') return std::nullopt;
  return unescape(json.substr(1, json.size() - 2));
}

std::optional<double> number_value(std::string_view json) {
  double value = 0;
  auto [end, error] = std::from_chars(json.data(), json.data() + json.size(), value);
  if (error != std::errc() || end != json.data() + json.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> count_value(std::string_view json) {
  std::uint64_t whole = 0;
  auto [end, error] = std::from_chars(json.data(), json.data() + json.size(), whole);
  if (error == std::errc() && end == json.data() + json.size()) return whole;
  auto number = number_value(json);
  // Beyond 2^53 a double no longer names one integer.
  if (!number || *number < 0 || *number > 9007199254740992.0 || std::floor(*number) != *number) return std::nullopt;
  return static_cast<std::uint64_t>(*number);
}

}  // namespace shepherd
