#include <algorithm>
#include <array>

#include "json/read.h"
#include "json/scan.h"
#include "json/write.h"
#include "llm/limits.h"
#include "llm/request_parts.h"
#include "llm/request_text.h"

namespace shepherd {
namespace {

// Text that says nothing is refused, so an empty message gets some.
constexpr std::string_view kNoWords = "(empty)";

bool says_nothing(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

// Writes messages whose roles alternate: what follows in the same role becomes blocks of the same message.
class AnthropicMessages {
 public:
  explicit AnthropicMessages(std::string& out) : out_(out) { out_.push_back('['); }

  void block(std::string_view role, std::string_view json) {
    if (role_ != role) {
      if (role_.empty() && role == "assistant") text("user", "");  // the user speaks first
      close();
      if (out_.back() != '[') out_.push_back(',');
      out_.append(R"({"role":")").append(role).append(R"(","content":[)");
      role_ = role;
    } else {
      out_.push_back(',');
    }
    out_.append(json);
  }
  void text(std::string_view role, std::string_view text) {
    block(role, object_text([&](JsonObject& object) {
            object.text("type", "text");
            object.text("text", says_nothing(text) ? kNoWords : text);
          }));
  }
  void finish() {
    if (role_.empty()) text("user", "");  // there is a system prompt at most
    close();
    out_.push_back(']');
  }

 private:
  void close() {
    if (!role_.empty()) out_.append("]}");
  }

  std::string& out_;
  std::string role_;
};

void write_user(AnthropicMessages& messages, const ModelMessage& message) {
  auto parts = content_parts(message.parts);
  if (parts.empty()) return messages.text("user", message.content);
  for (const ContentPart& part : parts) {
    if (!part.text.empty()) {
      messages.text("user", part.text);
      continue;
    }
    messages.block("user", object_text([&](JsonObject& object) {
                     object.text("type", "image");
                     object.object("source", [&](JsonObject& source) {
                       source.text("type", part.base64.empty() ? "url" : "base64");
                       source.text_unless_empty("url", part.url);
                       source.text_unless_empty("media_type", part.mime_type);
                       source.text_unless_empty("data", part.base64);
                     });
                   }));
  }
}

// The thinking that this backend wants back unchanged; views into the message.
std::vector<std::string_view> thinking_blocks(const ModelMessage& message, const std::string& backend) {
  if (text_member(message.reasoning_state, "backend") != backend) return {};
  return array_elements(find_member(message.reasoning_state, "blocks")).value_or(std::vector<std::string_view>());
}

// Anthropic refuses a tool loop that goes on with thinking but began without it, or whose thinking is lost: another
// backend began it, or the log has not all of it.
bool may_think(const RequestPlan& plan, const ModelRequest& request) {
  for (std::size_t at = loop_start(request.messages); at < request.messages.size(); ++at) {
    const ModelMessage& message = request.messages[at];
    if (message.tool_calls.empty()) continue;
    if (thinking_blocks(message, plan.config.name).empty()) return false;
  }
  return true;
}

void write_assistant(AnthropicMessages& messages, const ModelMessage& message, const std::string& backend, bool loop) {
  if (loop) {
    for (std::string_view block : thinking_blocks(message, backend)) messages.block("assistant", block);
  }
  if (!says_nothing(message.content) || message.tool_calls.empty()) messages.text("assistant", message.content);
  for (const ToolRequest& call : message.tool_calls) {
    messages.block("assistant", object_text([&](JsonObject& object) {
                     object.text("type", "tool_use");
                     object.text("id", plain_name(call.id));
                     object.text("name", call_name(call.name));
                     object.json("input", call_arguments(call.arguments));
                   }));
  }
}

// Text and images of a tool's result.
void write_blocks(std::string& out, std::string_view text, const std::vector<ModelImage>& images) {
  out.push_back('[');
  if (!says_nothing(text)) {
    write_object(out, [&](JsonObject& block) {
      block.text("type", "text");
      block.text("text", text);
    });
  }
  for (const ModelImage& image : images) {
    if (out.back() != '[') out.push_back(',');
    write_object(out, [&](JsonObject& block) {
      block.text("type", "image");
      block.object("source", [&](JsonObject& source) {
        source.text("type", "base64");
        source.text("media_type", image.mime_type);
        source.text("data", image.base64);
      });
    });
  }
  out.push_back(']');
}

void write_result(AnthropicMessages& messages, const ModelMessage& message, const RequestPlan& plan) {
  messages.block("user", object_text([&](JsonObject& object) {
                   object.text("type", "tool_result");
                   object.text("tool_use_id", plain_name(message.tool_call_id));
                   std::string text = told_content(message, plan.config.images, plan.model);
                   if (plan.config.images && message.images != nullptr) {
                     write_blocks(object.member("content"), text, *message.images);
                   } else {
                     object.text("content", text);
                   }
                   if (message.failed) object.flag("is_error", true);
                 }));
}

// OpenAI's tool_choice in Anthropic's form; empty for what means the default.
std::string anthropic_choice(std::string_view choice) {
  if (auto word = string_value(choice)) {
    if (*word == "none") return R"({"type":"none"})";
    if (*word == "required") return R"({"type":"any"})";
    return {};
  }
  std::string tool = text_member(find_member(choice, "function"), "name");
  if (tool.empty()) return {};
  return object_text([&](JsonObject& object) {
    object.text("type", "tool");
    object.text("name", tool);
  });
}

void write_anthropic_tools(JsonObject& body, const ModelRequest& request) {
  std::string& tools = body.member("tools");
  tools.push_back('[');
  for (const ToolDefinition& tool : request.tools) {
    if (tools.back() != '[') tools.push_back(',');
    write_object(tools, [&](JsonObject& object) {
      object.text("name", tool.name);
      object.text("description", tool.description);
      object.json("input_schema", tool_schema(tool.parameters));
    });
  }
  tools.push_back(']');
  if (std::string choice = anthropic_choice(request.tool_choice); !choice.empty()) body.json("tool_choice", choice);
}

// Configured options go as they are. Of a request's only those that Anthropic knows.
void write_anthropic_options(JsonObject& body, const RequestPlan& plan, const ModelRequest& request) {
  constexpr std::array<std::string_view, 7> kOwn{"model",      "messages", "system",     "stream",
                                                 "max_tokens", "tools",    "tool_choice"};
  constexpr std::array<std::string_view, 4> kKnown{"temperature", "top_p", "top_k", "thinking"};
  auto options = joined_members(plan.config.options, "");
  for (auto& [key, value] : joined_members(request.options, "")) {
    if (std::ranges::find(kKnown, key) != kKnown.end() || key == "stop") options[key] = value;
  }
  for (const auto& [key, value] : options) {
    if (std::ranges::find(kOwn, key) != kOwn.end()) continue;
    if (plan.use == RequestUse::count && key != "thinking") continue;
    if (key == "thinking" && !may_think(plan, request)) continue;
    if (key == "stop") {
      body.json("stop_sequences", value.starts_with('"') ? "[" + value + "]" : value);
      continue;
    }
    std::string quoted;
    append_json_string(quoted, key);
    quoted.append(":").append(value);
    body.members(quoted);
  }
}

}  // namespace

std::string anthropic_request(const RequestPlan& plan, const ModelRequest& request) {
  return object_text([&](JsonObject& body) {
    body.text("model", plan.model);
    if (plan.use == RequestUse::answer) {
      std::int64_t most = request.max_tokens > 0 ? request.max_tokens : plan.max_output;
      if (plan.max_output > 0) most = std::min(most, plan.max_output);
      body.number("max_tokens", most > 0 ? most : kUntoldMaxTokens);
      body.flag("stream", true);
    }
    std::string system;
    for (const ModelMessage& message : request.messages) {
      if (message.role != Role::system || says_nothing(message.content)) continue;
      if (!system.empty()) system += "\n\n";
      system += message.content;
    }
    body.text_unless_empty("system", system);
    AnthropicMessages messages(body.member("messages"));
    std::size_t loop = loop_start(request.messages);
    for (std::size_t at = 0; at < request.messages.size(); ++at) {
      const ModelMessage& message = request.messages[at];
      if (message.role == Role::user) write_user(messages, message);
      if (message.role == Role::assistant) write_assistant(messages, message, plan.config.name, at >= loop);
      if (message.role == Role::tool) write_result(messages, message, plan);
    }
    messages.finish();
    if (!request.tools.empty()) write_anthropic_tools(body, request);
    write_anthropic_options(body, plan, request);
  });
}

}  // namespace shepherd
