#include "json/tree.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>
#include <utility>
#include <vector>

#include "json/read.h"
#include "json/write.h"

namespace shepherd {
namespace {

namespace json = boost::json;
namespace dom = simdjson::dom;

// The recursion here and below is bounded by the parser's depth.
json::value to_tree(dom::element element) {
  switch (element.type()) {
    case dom::element_type::ARRAY: {
      json::array array;
      for (dom::element child : dom::array(element)) array.push_back(to_tree(child));
      return array;
    }
    case dom::element_type::OBJECT: {
      json::object object;
      for (auto [key, child] : dom::object(element)) object[key] = to_tree(child);
      return object;
    }
    case dom::element_type::INT64:
      return std::int64_t(element);
    case dom::element_type::UINT64:
      return std::uint64_t(element);
    case dom::element_type::DOUBLE:
      return double(element);
    case dom::element_type::STRING:
      return json::string(std::string_view(element));
    case dom::element_type::BOOL:
      return bool(element);
    case dom::element_type::NULL_VALUE:
      return nullptr;
  }
  return nullptr;
}

std::string_view view(const json::string& text) {
  return {text.data(), text.size()};
}

void append_object(std::string& out, const json::object& object) {
  out.push_back('{');
  bool first = true;
  for (const auto& [key, value] : object) {
    if (!first) out.push_back(',');
    first = false;
    append_json_string(out, {key.data(), key.size()});
    out.push_back(':');
    append_tree(out, value);
  }
  out.push_back('}');
}

void append_array(std::string& out, const json::array& array) {
  out.push_back('[');
  bool first = true;
  for (const auto& value : array) {
    if (!first) out.push_back(',');
    first = false;
    append_tree(out, value);
  }
  out.push_back(']');
}

}  // namespace

Result<json::value> parse_tree(std::string_view text) {
  JsonParser parser(text.size());
  auto root = parser.parse(text);
  if (!root) return fail(root.error());
  return to_tree(*root);
}

void append_tree(std::string& out, const json::value& value) {
  switch (value.kind()) {
    case json::kind::object:
      return append_object(out, value.get_object());
    case json::kind::array:
      return append_array(out, value.get_array());
    case json::kind::string:
      return append_json_string(out, view(value.get_string()));
    case json::kind::int64:
      return append_number(out, std::int64_t{value.get_int64()});
    case json::kind::uint64:
      return append_number(out, std::uint64_t{value.get_uint64()});
    case json::kind::double_:
      return append_number(out, value.get_double());
    case json::kind::bool_:
      out.append(value.get_bool() ? "true" : "false");
      return;
    case json::kind::null:
      out.append("null");
      return;
  }
}

std::string tree_text(const json::value& value) {
  std::string out;
  append_tree(out, value);
  return out;
}

std::string text_member(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(view(value->get_string())) : std::string();
}

}  // namespace shepherd
