#include "demo/script.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace scripted {
namespace {

// The JSON value at the start of `text`; ignores what follows it.
std::optional<json::value> leading_value(std::string_view text) {
  json::stream_parser parser;
  boost::system::error_code error;
  parser.write_some(text, error);
  if (error || !parser.done()) return std::nullopt;
  return parser.release();
}

Script script_of(const json::value& value) {
  Script script;
  if (value.is_array()) {
    script.steps = steps_of(&value);
    return script;
  }
  const json::object& object = value.as_object();
  script.steps = steps_of(object.if_contains("steps"));
  script.version = text(object, "version", script.version);
  if (const json::value* refuses = object.if_contains("refuses")) {
    for (const json::value& option : refuses->as_array()) script.refuses.emplace_back(option.as_string());
  }
  return script;
}

}  // namespace

Script script_from_environment() {
  const char* given = std::getenv("SCRIPTED_AGENT");
  if (given == nullptr || *given == '\0') return {};
  std::string source = given;
  if (source[0] != '[' && source[0] != '{') {
    std::ifstream file(source, std::ios::binary);
    if (!file) throw std::runtime_error("cannot read the script " + source);
    source.assign(std::istreambuf_iterator<char>(file), {});
  }
  return script_of(json::parse(source));
}

std::optional<Steps> script_in(std::string_view message) {
  std::size_t begin = message.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || message[begin] != '[') return std::nullopt;
  auto value = leading_value(message.substr(begin));
  if (!value) return std::nullopt;
  for (const json::value& step : value->as_array()) {
    if (!step.is_object()) return std::nullopt;
  }
  return steps_of(&*value);
}

Steps steps_of(const json::value* array) {
  Steps steps;
  if (array == nullptr) return steps;
  for (const json::value& step : array->as_array()) steps.push_back(step.as_object());
  return steps;
}

std::string text(const json::object& step, std::string_view key, std::string_view otherwise) {
  const json::value* value = step.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->as_string()) : std::string(otherwise);
}

double number(const json::object& step, std::string_view key, double otherwise) {
  const json::value* value = step.if_contains(key);
  return value != nullptr && value->is_number() ? value->to_number<double>() : otherwise;
}

bool truth(const json::object& step, std::string_view key) {
  const json::value* value = step.if_contains(key);
  return value != nullptr && value->is_bool() && value->as_bool();
}

}  // namespace scripted
