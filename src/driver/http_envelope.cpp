#include "driver/http_envelope.h"

#include "json/scan.h"
#include "json/slices.h"
#include "json/tree.h"
#include "json/write.h"

namespace shepherd {
namespace {

// As JSON when it is, otherwise as a text.
void append_value(JsonObject& object, std::string_view key, std::string_view value) {
  JsonSlices json;
  if (json.parse(value, [](std::string_view, std::string_view) { return false; })) return object.json(key, json.text());
  // A bare number or word is an answer, too.
  if (auto tree = parse_tree(value)) return object.json(key, tree_text(*tree));
  object.text(key, value);
}

std::string answer_record(const HttpEnvelope& request, auto&& fill) {
  return object_text([&](JsonObject& record) {
    record.object("answer", [&](JsonObject& answer) {
      answer.text_unless_empty("id", request.id);
      answer.text("request", request.method + " " + request.path);
      fill(answer);
    });
  });
}

}  // namespace

std::string http_request_line(const HttpEnvelope& request) {
  std::string line = object_text([&](JsonObject& object) {
    object.text("id", request.id);
    object.text("method", request.method);
    object.text("path", request.path);
    if (!request.body.empty()) object.json("body", request.body);
  });
  line.push_back('\n');
  return line;
}

std::optional<HttpEnvelope> read_http_request(std::string_view line) {
  HttpEnvelope request{text_member(line, "id"), text_member(line, "method"), text_member(line, "path"),
                       std::string(find_member(line, "body"))};
  if (request.method.empty() || !request.path.starts_with('/')) return std::nullopt;
  return request;
}

std::string http_open_record() {
  return R"({"open":true})";
}

std::string http_event_record(std::string_view data) {
  return object_text([&](JsonObject& record) { append_value(record, "event", data); });
}

std::string http_answer_record(const HttpEnvelope& request, int status, std::string_view body) {
  return answer_record(request, [&](JsonObject& answer) {
    answer.number("status", static_cast<std::int64_t>(status));
    if (!body.empty()) append_value(answer, "body", body);
  });
}

std::string http_failure_record(const HttpEnvelope& request, std::string_view error) {
  return answer_record(request, [&](JsonObject& answer) { answer.text("error", error); });
}

}  // namespace shepherd
