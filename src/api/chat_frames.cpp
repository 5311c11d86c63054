#include "api/chat_frames.h"

#include <vector>

#include "json/read.h"
#include "json/scan.h"
#include "json/write.h"

namespace shepherd {
namespace {

void append_chat_frame(std::string& out, std::string_view type, std::string_view data) {
  out += R"(data: {"type":")";
  out += type;
  out += R"(","data":)";
  out += data;
  out += "}\n\n";
}

// Clients parse the arguments, which a model can get wrong, or which are cut in the event.
std::string readable_arguments(const std::string& arguments) {
  JsonParser parser(arguments.size());
  auto parsed = parser.parse(arguments);
  if (parsed && parsed->is_object()) return arguments;
  return object_text([&](JsonObject& object) { object.text("arguments", arguments); });
}

void write_tool_calls(JsonObject& object, const std::vector<ToolRequest>& calls) {
  if (calls.empty()) return;
  std::string& out = object.member("tool_calls");
  out.push_back('[');
  for (const ToolRequest& call : calls) {
    if (out.back() != '[') out.push_back(',');
    write_object(out, [&](JsonObject& each) {
      each.text("id", call.id);
      each.text("type", "function");
      each.object("function", [&](JsonObject& function) {
        function.text("name", call.name);
        function.text("arguments", readable_arguments(call.arguments));
      });
    });
  }
  out.push_back(']');
}

void write_message_members(JsonObject& object, const ChatMessage& message) {
  object.text("role", name(message.message.role));
  object.text("content", message.message.content);
  object.number("tokens", message.tokens);
  write_tool_calls(object, message.message.tool_calls);
  object.text_unless_empty("tool_call_id", message.message.tool_call_id);
  object.text_unless_empty("tool_name", message.message.tool_name);
}

// Copies a member as it is, under another name.
void copy(JsonObject& to, std::string_view name, std::string_view data, std::string_view member) {
  std::string_view value = find_member(data, member);
  if (!value.empty()) to.json(name, value);
}

void message_frames(std::string& out, std::uint64_t sequence, std::string_view event) {
  Conversation one;
  one.apply(sequence, EventType::message, event);
  std::string_view data = find_member(event, "data");
  append_chat_frame(out, "message_added", object_text([&](JsonObject& object) {
                      write_message_members(object, one.messages().front());
                      object.number("sequence", sequence);
                      copy(object, "cut", data, "contentCut");
                    }));
  if (find_member(data, "final") != "true") return;
  append_chat_frame(out, "response_complete", object_text([&](JsonObject& object) {
                      copy(object, "response", data, "content");
                      copy(object, "cut", data, "contentCut");
                      copy(object, "finish_reason", data, "finishReason");
                      copy(object, "usage", data, "usage");
                      copy(object, "total_tokens", data, "totalTokens");
                      copy(object, "cost_usd", data, "turnCostUSD");
                      copy(object, "unpriced", data, "turnUnpriced");
                    }));
}

void error_frames(std::string& out, std::string_view event) {
  std::string_view data = find_member(event, "data");
  append_chat_frame(out, "error", object_text([&](JsonObject& object) {
                      copy(object, "error", data, "message");
                      copy(object, "code", data, "code");
                    }));
  if (find_member(data, "final") != "true") return;
  append_chat_frame(out, "response_complete", R"({"response":"","finish_reason":"error"})");
}

void eviction_frame(std::string& out, std::string_view event) {
  std::string_view data = find_member(event, "data");
  if (text_member(data, "reason") == "cleared") return append_chat_frame(out, "cleared", "{}");
  append_chat_frame(out, "eviction", object_text([&](JsonObject& object) {
                      copy(object, "messages_evicted", data, "messagesEvicted");
                      copy(object, "tokens_freed", data, "tokensFreed");
                      copy(object, "total_tokens", data, "totalTokens");
                      copy(object, "resync", data, "resync");
                    }));
}

void tool_call_frame(std::string& out, std::string_view event) {
  append_chat_frame(out, "tool_call", object_text([&](JsonObject& object) {
                      copy(object, "tool_call", event, "tool");
                      copy(object, "parameters", event, "input");
                      copy(object, "tool_call_id", event, "callID");
                    }));
}

void tool_result_frame(std::string& out, std::string_view event) {
  std::string_view output = find_member(event, "output");
  bool success = find_member(output, "success") == "true";
  append_chat_frame(out, "tool_result", object_text([&](JsonObject& object) {
                      copy(object, "tool_name", event, "tool");
                      object.flag("success", success);
                      if (!success) copy(object, "error", output, "summary");
                      copy(object, "tool_call_id", event, "callID");
                    }));
}

void append_event_frames(std::string& out, std::uint64_t sequence, EventType type, std::string_view event) {
  std::string frames;
  switch (type) {
    case EventType::message:
      message_frames(frames, sequence, event);
      break;
    case EventType::error:
      error_frames(frames, event);
      break;
    case EventType::eviction:
      eviction_frame(frames, event);
      break;
    case EventType::tool_call:
      tool_call_frame(frames, event);
      break;
    case EventType::tool_result:
      tool_result_frame(frames, event);
      break;
    case EventType::approval:
      append_chat_frame(frames, "approval", find_member(event, "data"));
      break;
    default:
      return;
  }
  out += "id: ";
  append_number(out, sequence);
  out += '\n';
  out += frames;
}

class ChatFrames final : public FrameEncoder {
 public:
  void event(std::string& out, const EventBatch& batch, std::size_t i) const override {
    append_event_frames(out, batch.first + i, batch.types[i], batch.event(i));
  }
  // Retention dropped them: what the observer has of the session is out of date, and how many messages that are is not
  // known.
  void gap(std::string& out, std::string_view, std::uint64_t from, std::uint64_t to) const override {
    out += "id: ";
    append_number(out, to);
    out += '\n';
    append_chat_frame(out, "eviction", object_text([&](JsonObject& object) {
                        object.json("messages_evicted", "0");
                        object.json("tokens_freed", "0");
                        object.flag("resync", true);
                        object.object("missed", [&](JsonObject& missed) {
                          missed.number("from", from);
                          missed.number("to", to);
                        });
                      }));
  }
  void caught_up(std::string&, std::string_view, std::uint64_t) const override {}
  void position(std::string&, std::string_view, std::uint64_t) const override {}
  void delta(std::string& out, std::string_view, std::string_view data) const override {
    std::string kind = text_member(data, "kind");
    std::string_view text = find_member(data, "text");
    if (kind == "code") {
      append_chat_frame(out, "codeblock", object_text([&](JsonObject& object) { object.json("content", text); }));
    } else {
      append_chat_frame(out, kind.empty() ? "delta" : "reasoning",
                        object_text([&](JsonObject& object) { object.json("delta", text); }));
    }
  }
  void complete(std::string&, std::string_view, std::string_view, std::uint64_t) const override {}
};

}  // namespace

const FrameEncoder& chat_frames() {
  static const ChatFrames frames;
  return frames;
}

std::string chat_frame(std::string_view type, std::string_view data) {
  std::string out;
  append_chat_frame(out, type, data);
  return out;
}

std::string replayed_event(const SessionLog::Recent& event) {
  std::string out;
  std::string_view data = find_member(event.json, "data");
  std::string said = text_member(data, "role") == "assistant" ? text_member(data, "content") : "";
  if (event.type == EventType::message && !said.empty()) {
    append_chat_frame(out, "delta", object_text([&](JsonObject& object) { object.text("delta", said); }));
  }
  append_event_frames(out, event.sequence, event.type, event.json);
  return out;
}

void append_chat_message(std::string& out, const ChatMessage& message) {
  write_object(out, [&](JsonObject& object) {
    write_message_members(object, message);
    object.number("sequence", message.sequence);
  });
}

}  // namespace shepherd
