#include "mcp/message.h"

#include <charconv>
#include <utility>

#include "json/read.h"
#include "json/scan.h"
#include "json/write.h"
#include "mcp/limits.h"

namespace shepherd {
namespace {

std::unexpected<Error> bad_message(std::string why) {
  return fail(ErrorCode::invalid_argument, "bad_message", std::move(why));
}

bool is_object(std::string_view json) {
  return json.starts_with('{');
}

bool is_id(std::string_view json) {
  return json.starts_with('"') || whole_value(json).has_value();
}

Result<void> check_json(std::string_view json) {
  JsonParser parser(json.size());
  auto parsed = parser.parse(json);
  if (!parsed) return fail(std::move(parsed.error()));
  if (!parsed->is_object()) return bad_message("it is not a JSON object");
  return {};
}

}  // namespace

std::optional<std::int64_t> whole_value(std::string_view json) {
  std::int64_t value = 0;
  auto [end, error] = std::from_chars(json.data(), json.data() + json.size(), value);
  if (json.empty() || error != std::errc() || end != json.data() + json.size()) return std::nullopt;
  return value;
}

std::string shortened(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return std::string(text);
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0U) == 0x80U) --bytes;
  return std::string(text.substr(0, bytes)) + "…";
}

std::optional<std::int64_t> McpMessage::answers() const {
  if (kind != Kind::result && kind != Kind::error) return std::nullopt;
  if (auto number = whole_value(id)) return number;
  // A server may give the number back as a string.
  auto text = string_value(id);
  return text ? whole_value(*text) : std::nullopt;
}

Result<McpMessage> read_message(std::string_view json) {
  std::optional<std::string> mended;
  if (auto checked = check_json(json); !checked) {
    mended = without_lone_surrogates(json);
    if (!mended) return bad_message(std::move(checked.error().message));
    json = *mended;
    if (auto again = check_json(json); !again) return bad_message(std::move(again.error().message));
  }
  McpMessage message;
  std::string_view id = find_member(json, "id");
  std::string_view method = find_member(json, "method");
  if (!method.empty()) {
    auto name = string_value(method);
    if (!name || name->empty()) return bad_message("its method is not a name");
    message.method = *std::move(name);
    std::string_view params = find_member(json, "params");
    if (is_object(params)) message.body = params;
    if (id.empty() || id == "null") return message;
    if (!is_id(id)) return bad_message("its id is neither a string nor a whole number");
    message.kind = McpMessage::Kind::request;
    message.id = id;
    return message;
  }
  message.id = id.empty() ? "null" : id;
  if (message.id != "null" && !is_id(message.id)) return bad_message("its id is neither a string nor a whole number");
  std::string_view result = find_member(json, "result");
  std::string_view error = find_member(json, "error");
  if (is_object(error)) {
    message.kind = McpMessage::Kind::error;
    message.code = whole_value(find_member(error, "code")).value_or(0);
    message.error_message = shortened(text_member(error, "message"), kMaxMcpFaultTextBytes);
    message.body = find_member(error, "data");
    return message;
  }
  if (!is_object(result)) return bad_message("it has neither a method nor a result nor an error");
  if (message.id == "null") return bad_message("its result has no id");
  message.kind = McpMessage::Kind::result;
  message.body = result;
  return message;
}

std::string request_text(std::int64_t id, std::string_view method, std::string_view params) {
  return object_text([&](JsonObject& message) {
    message.text("jsonrpc", "2.0");
    message.number("id", id);
    message.text("method", method);
    message.json("params", params);
  });
}

std::string notification_text(std::string_view method, std::string_view params) {
  return object_text([&](JsonObject& message) {
    message.text("jsonrpc", "2.0");
    message.text("method", method);
    if (!params.empty()) message.json("params", params);
  });
}

std::string result_text(std::string_view id, std::string_view result) {
  return object_text([&](JsonObject& message) {
    message.text("jsonrpc", "2.0");
    message.json("id", id);
    message.json("result", result);
  });
}

std::string error_text(std::string_view id, std::int64_t code, std::string_view text) {
  return object_text([&](JsonObject& message) {
    message.text("jsonrpc", "2.0");
    message.json("id", id);
    message.object("error", [&](JsonObject& error) {
      error.number("code", code);
      error.text("message", text);
    });
  });
}

}  // namespace shepherd
