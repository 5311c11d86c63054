#include "redact/redact_tree.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>
#include <string>
#include <utility>

#include "json/tree.h"

namespace shepherd {
namespace {

namespace json = boost::json;

// A member whose name changes keeps its place, so the object is made anew. Two names may become the same.
void redact_object(json::object& object, const Redactor& redactor) {
  json::object redacted;
  redacted.reserve(object.size());
  std::size_t repeats = 1;
  for (auto& [key, value] : object) {
    std::string_view name(key.data(), key.size());
    redact_tree(name, value, redactor);
    std::string safe = redactor.may_match(name) ? redactor.redact(name) : std::string(name);
    std::string unique = safe;
    while (redacted.contains(unique)) unique = safe + "~" + std::to_string(++repeats);
    redacted[unique] = std::move(value);
  }
  object = std::move(redacted);
}

void redact_number(json::value& value, const Redactor& redactor) {
  std::string text = tree_text(value);
  if (text.size() < 13 || !redactor.may_match(text)) return;
  std::string redacted = redactor.redact(text);
  if (redacted != text) value = json::string(redacted);
}

}  // namespace

void redact_tree(std::string_view key, json::value& value, const Redactor& redactor) {
  switch (value.kind()) {
    case json::kind::object:
      redact_object(value.get_object(), redactor);
      break;
    case json::kind::array:
      for (auto& child : value.get_array()) redact_tree(key, child, redactor);
      break;
    case json::kind::string: {
      std::string_view text(value.get_string().data(), value.get_string().size());
      std::string redacted = redactor.redact_member(key, text);
      if (redacted != text) value = json::string(redacted);
      break;
    }
    case json::kind::int64:
    case json::kind::uint64:
    case json::kind::double_:
      redact_number(value, redactor);
      break;
    default:
      break;
  }
}

}  // namespace shepherd
