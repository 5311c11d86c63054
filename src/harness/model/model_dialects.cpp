// What the dialects share.
#include "harness/model/model_dialects.h"

#include <fmt/format.h>

namespace shepherd::harness {
namespace json = boost::json;

std::string_view text_member(const json::object& of, std::string_view name) {
  const json::value* found = of.if_contains(name);
  const json::string* text = found == nullptr ? nullptr : found->if_string();
  return text == nullptr ? std::string_view() : std::string_view(*text);
}

const json::object* object_member(const json::object& of, std::string_view name) {
  const json::value* found = of.if_contains(name);
  return found == nullptr ? nullptr : found->if_object();
}

const json::array* array_member(const json::object& of, std::string_view name) {
  const json::value* found = of.if_contains(name);
  return found == nullptr ? nullptr : found->if_array();
}

std::string words_of(const json::value* content) {
  if (content == nullptr) return {};
  if (const json::string* text = content->if_string()) return std::string(*text);
  std::string words;
  if (const json::array* parts = content->if_array()) {
    for (const json::value& part : *parts) {
      if (const json::object* object = part.if_object()) words += text_member(*object, "text");
    }
  }
  return words;
}

void note_words(ModelRequest& request, const std::string& words) {
  if (words.empty()) return;
  if (command_in(words).empty() && !request.has_result) {
    if (request.prompt.empty()) request.prompt = words;
    return;
  }
  request.prompt = words;
  request.has_result = false;
}

std::string stream_event(std::string_view name, const json::value& data) {
  std::string head = name.empty() ? std::string() : fmt::format("event: {}\n", name);
  return fmt::format("{}data: {}\n\n", head, json::serialize(data));
}

}  // namespace shepherd::harness
