// Anthropic's messages and Google's generateContent.
#include <fmt/format.h>

#include "harness/model/model_dialects.h"

namespace shepherd::harness {
namespace json = boost::json;
namespace {

bool has_part(const json::object& of, std::string_view list, std::string_view type) {
  const json::array* parts = array_member(of, list);
  if (parts == nullptr) return false;
  for (const json::value& part : *parts) {
    const json::object* object = part.if_object();
    if (object != nullptr && (text_member(*object, "type") == type || object->contains(type))) return true;
  }
  return false;
}

}  // namespace

ModelRequest messages_request(const json::object& body) {
  ModelRequest request;
  if (const json::array* tools = array_member(body, "tools")) {
    for (const json::value& each : *tools) {
      const json::object* tool = each.if_object();
      if (tool == nullptr) continue;
      const json::object* schema = object_member(*tool, "input_schema");
      request.tools.push_back({std::string(text_member(*tool, "name")), schema == nullptr ? json::object() : *schema});
    }
  }
  const json::array* messages = array_member(body, "messages");
  if (messages == nullptr) return request;
  for (const json::value& each : *messages) {
    const json::object* message = each.if_object();
    if (message == nullptr || text_member(*message, "role") != "user") continue;
    if (has_part(*message, "content", "tool_result")) {
      request.has_result = true;
    } else {
      note_words(request, words_of(message->if_contains("content")));
    }
  }
  return request;
}

ModelAnswer messages_answer(const ModelReply& reply, bool streams, AnswerNumber number) {
  json::object block{{"type", "text"}, {"text", reply.words}};
  if (reply.call) {
    block = {{"type", "tool_use"},
             {"id", fmt::format("toolu_{}", number)},
             {"name", reply.call->tool},
             {"input", reply.call->input}};
  }
  std::string_view reason = reply.call ? "tool_use" : "end_turn";
  json::object message{{"id", fmt::format("msg_{}", number)},
                       {"type", "message"},
                       {"role", "assistant"},
                       {"model", kModelName},
                       {"content", json::array()},
                       {"stop_reason", nullptr},
                       {"stop_sequence", nullptr},
                       {"usage", {{"input_tokens", 100}, {"output_tokens", 10}}}};
  if (!streams) {
    message["content"] = json::array{block};
    message["stop_reason"] = reason;
    return {"application/json", json::serialize(message)};
  }
  auto event = [](std::string_view type, json::object data) {
    data["type"] = type;
    return stream_event(type, data);
  };
  json::object opened = block, delta{{"type", "text_delta"}, {"text", reply.words}};
  if (reply.call) {
    opened["input"] = json::object();
    delta = {{"type", "input_json_delta"}, {"partial_json", json::serialize(reply.call->input)}};
  } else {
    opened["text"] = "";
  }
  std::string body = event("message_start", {{"message", message}});
  body += event("content_block_start", {{"index", 0}, {"content_block", opened}});
  body += event("content_block_delta", {{"index", 0}, {"delta", delta}});
  body += event("content_block_stop", {{"index", 0}});
  body += event("message_delta",
                {{"delta", {{"stop_reason", reason}, {"stop_sequence", nullptr}}}, {"usage", {{"output_tokens", 10}}}});
  return {"text/event-stream", body + event("message_stop", {})};
}

ModelRequest generate_request(const json::object& body) {
  ModelRequest request;
  if (const json::array* groups = array_member(body, "tools")) {
    for (const json::value& group : *groups) {
      const json::object* object = group.if_object();
      const json::array* tools = object == nullptr ? nullptr : array_member(*object, "functionDeclarations");
      if (tools == nullptr) continue;
      for (const json::value& each : *tools) {
        const json::object* tool = each.if_object();
        if (tool == nullptr) continue;
        const json::object* schema = object_member(*tool, "parametersJsonSchema");
        if (schema == nullptr) schema = object_member(*tool, "parameters");
        request.tools.push_back(
            {std::string(text_member(*tool, "name")), schema == nullptr ? json::object() : *schema});
      }
    }
  }
  const json::array* contents = array_member(body, "contents");
  if (contents == nullptr) return request;
  for (const json::value& each : *contents) {
    const json::object* content = each.if_object();
    if (content == nullptr || text_member(*content, "role") != "user") continue;
    if (has_part(*content, "parts", "functionResponse")) {
      request.has_result = true;
    } else {
      note_words(request, words_of(content->if_contains("parts")));
    }
  }
  return request;
}

ModelAnswer generate_answer(const ModelReply& reply, bool streams, AnswerNumber /*number*/) {
  json::object part{{"text", reply.words}};
  if (reply.call) part = {{"functionCall", {{"name", reply.call->tool}, {"args", reply.call->input}}}};
  json::object body{
      {"candidates",
       json::array{json::object{
           {"content", {{"role", "model"}, {"parts", json::array{part}}}}, {"finishReason", "STOP"}, {"index", 0}}}},
      {"modelVersion", kModelName},
      {"usageMetadata", {{"promptTokenCount", 100}, {"candidatesTokenCount", 10}, {"totalTokenCount", 110}}}};
  if (streams) return {"text/event-stream", fmt::format("data: {}\r\n\r\n", json::serialize(body))};
  return {"application/json", json::serialize(body)};
}

}  // namespace shepherd::harness
