#include "json/scan.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "json/blocks.h"

namespace shepherd {
namespace {

// One past the closing quote of the string whose first byte after the opening quote is `at`; npos when unclosed.
std::size_t end_of_string(std::string_view json, std::size_t at) {
  while (at + kBlock <= json.size()) {
    std::size_t mark = first_quote_or_escape(json.data() + at);
    at += mark;
    if (mark == kBlock) continue;
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
