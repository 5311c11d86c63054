#include "model/condense.h"

#include <boost/json/array.hpp>
#include <boost/json/string.hpp>
#include <boost/json/value.hpp>
#include <utility>

namespace shepherd {
namespace {

namespace json = boost::json;

constexpr std::string_view kCut = "... (truncated)";

bool is_sequence_start(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
}

std::string_view view(const json::string& text) {
  return {text.data(), text.size()};
}

bool condense_value(json::value& value, std::size_t characters, const CondenseRules& rules);

// An edit's texts are replaced by their lengths: a consumer sees where and how large the edit is.
std::string_view length_key(std::string_view key) {
  if (key == "old_string") return "oldLength";
  if (key == "new_string") return "newLength";
  return {};
}

bool condense_object(json::object& object, std::size_t characters, const CondenseRules& rules) {
  bool cut = false;
  json::object condensed;
  condensed.reserve(object.size());
  for (auto& [key, value] : object) {
    std::string_view name(key.data(), key.size());
    if (std::string_view length = length_key(name); !length.empty() && value.is_string()) {
      condensed[length] = static_cast<std::int64_t>(characters_in(view(value.get_string())));
      cut = true;
      continue;
    }
    cut = condense_value(value, name == "command" ? rules.command_characters : characters, rules) || cut;
    condensed[name] = std::move(value);
  }
  object = std::move(condensed);
  return cut;
}

bool condense_value(json::value& value, std::size_t characters, const CondenseRules& rules) {
  if (value.is_object()) return condense_object(value.get_object(), characters, rules);
  if (value.is_array()) {
    bool cut = false;
    for (auto& child : value.get_array()) cut = condense_value(child, characters, rules) || cut;
    return cut;
  }
  if (!value.is_string()) return false;
  std::string_view text = view(value.get_string());
  std::string_view kept = first_characters(text, characters);
  if (kept.size() == text.size()) return false;
  value = json::string(std::string(kept));
  return true;
}

}  // namespace

std::string_view first_characters(std::string_view text, std::size_t characters) {
  if (text.size() <= characters) return text;
  std::size_t seen = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!is_sequence_start(text[at])) continue;
    if (seen == characters) return text.substr(0, at);
    ++seen;
  }
  return text;
}

std::size_t characters_in(std::string_view text) {
  std::size_t count = 0;
  for (char c : text) count += is_sequence_start(c) ? 1 : 0;
  return count;
}

std::string truncated(std::string_view text, std::size_t characters) {
  std::string_view kept = first_characters(text, characters);
  std::string out(kept);
  if (kept.size() < text.size()) out.append(kCut);
  return out;
}

bool condense_input(std::string_view tool, json::object& input, const CondenseRules& rules) {
  auto own = rules.by_tool.find(std::string(tool));
  return condense_object(input, own == rules.by_tool.end() ? rules.string_characters : own->second, rules);
}

std::size_t condense_output(json::object& output, const CondenseRules& rules) {
  auto* summary = output.if_contains("summary");
  auto* text = summary == nullptr ? nullptr : summary->if_string();
  if (text == nullptr) return 0;
  std::string after = truncated(view(*text), rules.result_characters);
  if (after == view(*text)) return 0;
  std::size_t characters = characters_in(view(*text));
  *text = after;
  return characters;
}

}  // namespace shepherd
