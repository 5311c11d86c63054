#include "json/request.h"

namespace shepherd {

namespace dom = simdjson::dom;

Error bad_member(std::string_view member, std::string_view expected) {
  std::string text = "\"" + std::string(member) + "\" must be " + std::string(expected);
  return Error{ErrorCode::invalid_argument, "bad_member", std::move(text), {}}.with("member", std::string(member));
}

Result<dom::object> request_object(JsonParser& parser, std::string_view json) {
  auto root = parser.parse(json);
  if (!root) return fail(root.error());
  dom::object object;
  if (root->get(object) != simdjson::SUCCESS) {
    return fail(ErrorCode::invalid_argument, "bad_json", "the body must be a JSON object");
  }
  return object;
}

std::optional<dom::element> JsonRequest::member(std::string_view key) const {
  if (asked_ != nullptr) asked_->insert(path(key));
  dom::element element;
  if (object_.at_key(key).get(element) != simdjson::SUCCESS || element.is_null()) return std::nullopt;
  return element;
}

void JsonRequest::refuse(std::string_view key, std::string_view expected) {
  if (!error_) error_ = bad_member(path(key), expected);
}

void JsonRequest::text(std::string_view key, std::string& into) {
  auto element = member(key);
  if (!element) return;
  std::string_view value;
  if (element->get(value) != simdjson::SUCCESS) return refuse(key, "a string");
  into = value;
}

void JsonRequest::whole(std::string_view key, std::int64_t& into) {
  auto element = member(key);
  if (!element) return;
  std::int64_t value = 0;
  if (element->get(value) != simdjson::SUCCESS || value < 0) return refuse(key, "a whole number of at least 0");
  into = value;
}

void JsonRequest::number(std::string_view key, double& into) {
  auto element = member(key);
  if (!element) return;
  double value = 0;
  if (element->get(value) != simdjson::SUCCESS || value < 0) return refuse(key, "a number of at least 0");
  into = value;
}

void JsonRequest::texts(std::string_view key, std::vector<std::string>& into) {
  auto element = member(key);
  if (!element) return;
  dom::array array;
  if (element->get(array) != simdjson::SUCCESS) return refuse(key, "an array of strings");
  for (dom::element child : array) {
    std::string_view text;
    if (child.get(text) != simdjson::SUCCESS) return refuse(key, "an array of strings");
    into.emplace_back(text);
  }
}

std::optional<JsonRequest> JsonRequest::object(std::string_view key) {
  auto element = member(key);
  if (!element) return std::nullopt;
  dom::object value;
  if (element->get(value) != simdjson::SUCCESS) {
    refuse(key, "an object");
    return std::nullopt;
  }
  return JsonRequest(value, path(key) + ".", error_, asked_);
}

}  // namespace shepherd
