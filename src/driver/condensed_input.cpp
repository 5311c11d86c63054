#include <algorithm>

#include "driver/event_json.h"
#include "json/scan.h"
#include "json/write.h"
#include "model/limits.h"

namespace shepherd {
namespace {

// One past the character that starts at escaped[at]: an escape, a pair of them for a surrogate pair, a UTF-8 sequence.
std::size_t end_of_character(std::string_view escaped, std::size_t at) {
  if (escaped[at] == '\\') {
    if (escaped.substr(at, 2) != "\\u") return at + 2;
    std::string_view high = escaped.substr(std::min(at + 2, escaped.size()), 2);
    bool pair = high.size() == 2 && (high[0] | 0x20) == 'd' && std::string_view("89abAB").contains(high[1]) &&
                escaped.substr(std::min(at + 6, escaped.size())).starts_with("\\u");
    return at + (pair ? 12 : 6);
  }
  do {
    ++at;
  } while (at < escaped.size() && (static_cast<unsigned char>(escaped[at]) & 0xC0) == 0x80);
  return at;
}

std::string_view first_escaped(std::string_view escaped, std::size_t characters) {
  if (escaped.size() <= characters) return escaped;
  std::size_t at = 0;
  for (std::size_t count = 0; count < characters && at < escaped.size(); ++count) at = end_of_character(escaped, at);
  return escaped.substr(0, std::min(at, escaped.size()));
}

std::uint64_t escaped_characters_in(std::string_view escaped) {
  std::uint64_t count = 0;
  for (std::size_t at = 0; at < escaped.size(); at = end_of_character(escaped, at)) ++count;
  return count;
}

bool append_object(std::string& out, std::string_view object);
bool append_array(std::string& out, std::string_view array);

bool append_value(std::string& out, std::string_view value, std::size_t characters) {
  if (value.starts_with('{')) return append_object(out, value);
  if (value.starts_with('[')) return append_array(out, value);
  if (!value.starts_with('"')) {
    out.append(value);
    return false;
  }
  std::string_view text = value.substr(1, value.size() - 2);
  std::string_view kept = first_escaped(text, characters);
  out.append("\"").append(kept).append("\"");
  return kept.size() < text.size();
}

bool append_object(std::string& out, std::string_view object) {
  bool cut = false;
  char before = '{';
  JsonMembers members(object);
  while (members.next()) {
    std::string_view key = members.key();
    std::string_view value = members.value();
    out.push_back(before);
    before = ',';
    // An edit shows where and how much: its texts become their lengths.
    bool old_text = key == "old_string";
    if ((old_text || key == "new_string") && value.starts_with('"')) {
      out.append(old_text ? R"("oldLength":)" : R"("newLength":)");
      append_number(out, escaped_characters_in(value.substr(1, value.size() - 2)));
      cut = true;
      continue;
    }
    out.append("\"").append(key).append("\":");
    cut = append_value(out, value, key == "command" ? kCondensedCommandCharacters : kCondensedStringCharacters) || cut;
  }
  out.append(before == '{' ? "{}" : "}");
  return cut;
}

bool append_array(std::string& out, std::string_view array) {
  bool cut = false;
  out.push_back('[');
  std::size_t at = 1;
  while (at < array.size() && array[at] != ']') {
    if (array[at] == ',') {
      out.push_back(',');
      ++at;
      continue;
    }
    std::size_t end = end_of_value(array, at);
    if (end == std::string_view::npos) break;
    cut = append_value(out, array.substr(at, end - at), kCondensedStringCharacters) || cut;
    at = end;
  }
  out.push_back(']');
  return cut;
}

}  // namespace

void append_shortened(std::string& out, std::string_view object, std::size_t characters) {
  char before = '{';
  JsonMembers members(object);
  while (members.next()) {
    out.push_back(before);
    before = ',';
    out.append("\"").append(members.key()).append("\":");
    append_value(out, members.value(), characters);
  }
  out.append(before == '{' ? "{}" : "}");
}

bool append_condensed_input(std::string& out, std::string_view input) {
  bool edit = input.find("_string\":\"") != std::string_view::npos;
  if (!edit && input.size() <= kCondensedStringCharacters) {
    out.append(input);
    return false;
  }
  return append_object(out, input);
}

}  // namespace shepherd
