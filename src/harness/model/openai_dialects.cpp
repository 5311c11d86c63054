// Chat completions and responses.
#include <fmt/format.h>

#include "harness/model/model_dialects.h"

namespace shepherd::harness {
namespace json = boost::json;
namespace {

// Tools of both: {function: {name, parameters}} or {name, parameters}.
std::vector<OfferedTool> functions_of(const json::object& body) {
  std::vector<OfferedTool> tools;
  const json::array* listed = array_member(body, "tools");
  if (listed == nullptr) return tools;
  for (const json::value& each : *listed) {
    const json::object* tool = each.if_object();
    if (tool == nullptr) continue;
    if (const json::object* function = object_member(*tool, "function")) tool = function;
    const json::object* parameters = object_member(*tool, "parameters");
    tools.push_back({std::string(text_member(*tool, "name")), parameters == nullptr ? json::object() : *parameters});
  }
  return tools;
}

ModelAnswer event_stream(std::string body) {
  return {"text/event-stream", std::move(body)};
}

ModelAnswer whole(const json::value& body) {
  return {"application/json", json::serialize(body)};
}

}  // namespace

ModelRequest chat_request(const json::object& body) {
  ModelRequest request{.tools = functions_of(body)};
  const json::array* messages = array_member(body, "messages");
  if (messages == nullptr) return request;
  for (const json::value& each : *messages) {
    const json::object* message = each.if_object();
    if (message == nullptr) continue;
    std::string_view role = text_member(*message, "role");
    if (role == "user") note_words(request, words_of(message->if_contains("content")));
    if (role == "tool") request.has_result = true;
  }
  return request;
}

ModelAnswer chat_answer(const ModelReply& reply, bool streams, AnswerNumber number) {
  json::object message{{"role", "assistant"}, {"content", reply.words}};
  if (reply.call) {
    message["tool_calls"] = json::array{
        json::object{{"index", 0},
                     {"id", fmt::format("call_{}", number)},
                     {"type", "function"},
                     {"function", {{"name", reply.call->tool}, {"arguments", json::serialize(reply.call->input)}}}}};
  }
  json::object usage{{"prompt_tokens", 100}, {"completion_tokens", 10}, {"total_tokens", 110}};
  json::object head{{"id", fmt::format("chatcmpl-{}", number)}, {"created", 1}, {"model", kModelName}};
  std::string_view reason = reply.call ? "tool_calls" : "stop";
  if (!streams) {
    head["object"] = "chat.completion";
    head["choices"] = json::array{json::object{{"index", 0}, {"message", message}, {"finish_reason", reason}}};
    head["usage"] = usage;
    return whole(head);
  }
  head["object"] = "chat.completion.chunk";
  std::string body;
  head["choices"] = json::array{json::object{{"index", 0}, {"delta", message}, {"finish_reason", nullptr}}};
  body += stream_event("", head);
  head["choices"] = json::array{json::object{{"index", 0}, {"delta", json::object()}, {"finish_reason", reason}}};
  body += stream_event("", head);
  head["choices"] = json::array();
  head["usage"] = usage;
  return event_stream(body + stream_event("", head) + "data: [DONE]\n\n");
}

ModelRequest responses_request(const json::object& body) {
  ModelRequest request{.tools = functions_of(body)};
  const json::array* input = array_member(body, "input");
  if (input == nullptr) return request;
  for (const json::value& each : *input) {
    const json::object* item = each.if_object();
    if (item == nullptr) continue;
    if (text_member(*item, "role") == "user") note_words(request, words_of(item->if_contains("content")));
    if (text_member(*item, "type").ends_with("_call_output")) request.has_result = true;
  }
  return request;
}

ModelAnswer responses_answer(const ModelReply& reply, bool streams, AnswerNumber number) {
  std::string id = fmt::format("resp_{}", number);
  json::object item;
  if (reply.call) {
    item = {{"type", "function_call"},
            {"id", fmt::format("fc_{}", number)},
            {"call_id", fmt::format("call_{}", number)},
            {"name", reply.call->tool},
            {"arguments", json::serialize(reply.call->input)},
            {"status", "completed"}};
  } else {
    item = {{"type", "message"},
            {"id", fmt::format("msg_{}", number)},
            {"role", "assistant"},
            {"status", "completed"},
            {"content", json::array{json::object{
                            {"type", "output_text"}, {"text", reply.words}, {"annotations", json::array()}}}}};
  }
  json::object usage{{"input_tokens", 100},
                     {"input_tokens_details", {{"cached_tokens", 0}}},
                     {"output_tokens", 10},
                     {"output_tokens_details", {{"reasoning_tokens", 0}}},
                     {"total_tokens", 110}};
  json::object response{{"id", id},
                        {"object", "response"},
                        {"model", kModelName},
                        {"status", "completed"},
                        {"output", json::array{item}},
                        {"usage", usage}};
  if (!streams) return whole(response);
  auto event = [](std::string_view type, json::object data) {
    data["type"] = type;
    return stream_event(type, data);
  };
  std::string body = event("response.created", {{"response", {{"id", id}}}});
  if (!reply.call) {
    json::object open = item;
    open["status"] = "in_progress";
    open["content"] = json::array();
    body += event("response.output_item.added", {{"output_index", 0}, {"item", open}});
    body += event("response.output_text.delta",
                  {{"item_id", item["id"]}, {"output_index", 0}, {"content_index", 0}, {"delta", reply.words}});
  }
  body += event("response.output_item.done", {{"output_index", 0}, {"item", item}});
  return event_stream(body + event("response.completed", {{"response", response}}));
}

}  // namespace shepherd::harness
