#include "tools/arguments.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "json/read.h"
#include "json/scan.h"

namespace shepherd {
namespace {

std::unexpected<Error> bad_argument(std::string_view name, std::string_view wanted) {
  return fail(ErrorCode::invalid_argument, "bad_tool_arguments", fmt::format("\"{}\" must be {}.", name, wanted));
}

// What a person was shown must be what runs, and programs differ in which of two equal names they read.
bool has_repeated_names(simdjson::dom::element object) {
  std::set<std::string_view> names;
  for (auto member : simdjson::dom::object(object)) {
    if (!names.insert(member.key).second) return true;
  }
  return false;
}

}  // namespace

Arguments::Arguments(std::string_view json) {
  JsonParser parser(json.size());
  auto parsed = parser.parse(json);
  object_ = parsed && parsed->is_object() && !has_repeated_names(*parsed);
  if (object_) json_ = json;
}

Result<std::string> Arguments::content(std::string_view name) const {
  auto value = string_value(find_member(json_, name));
  if (!value) return bad_argument(name, "given, and a text");
  return *std::move(value);
}

Result<std::string> Arguments::text(std::string_view name) const {
  auto value = content(name);
  if (value && value->empty()) return bad_argument(name, "a text that is not empty");
  return value;
}

Result<std::string> Arguments::text_or(std::string_view name, std::string_view instead) const {
  std::string_view value = find_member(json_, name);
  if (value.empty() || value == "null") return std::string(instead);
  auto text = content(name);
  if (text && text->empty()) return std::string(instead);
  return text;
}

Result<std::int64_t> Arguments::number_or(std::string_view name, std::int64_t instead, std::int64_t least,
                                          std::int64_t most) const {
  std::string_view value = find_member(json_, name);
  if (value.empty() || value == "null") return instead;
  // Small models write numbers as texts.
  std::string unquoted(inside_quotes(value));
  auto number = number_value(unquoted.empty() ? value : std::string_view(unquoted));
  if (!number || std::floor(*number) != *number || *number < static_cast<double>(least) ||
      *number > static_cast<double>(most)) {
    return bad_argument(name, fmt::format("a whole number from {} to {}", least, most));
  }
  return static_cast<std::int64_t>(*number);
}

Result<bool> Arguments::flag_or(std::string_view name, bool instead) const {
  std::string_view value = find_member(json_, name);
  if (value.empty() || value == "null") return instead;
  if (value == "true" || value == "\"true\"") return true;
  if (value == "false" || value == "\"false\"") return false;
  return bad_argument(name, "true or false");
}

std::string Arguments::shown(std::string_view name) const {
  return string_value(find_member(json_, name)).value_or("");
}

}  // namespace shepherd
