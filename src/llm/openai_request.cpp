#include <algorithm>
#include <array>

#include "json/read.h"
#include "json/write.h"
#include "llm/request_parts.h"
#include "llm/request_text.h"

namespace shepherd {
namespace {

// Members that this file writes itself, or that would change the form of the answer.
constexpr std::array<std::string_view, 10> kOpenAiOwn{"model", "messages",    "stream",     "stream_options",
                                                      "tools", "tool_choice", "max_tokens", "max_completion_tokens",
                                                      "n",     "functions"};

void write_openai_calls(std::string& out, const std::vector<ToolRequest>& calls) {
  out.push_back('[');
  for (const ToolRequest& call : calls) {
    if (out.back() != '[') out.push_back(',');
    write_object(out, [&](JsonObject& object) {
      object.text("id", call.id);
      object.text("type", "function");
      object.object("function", [&](JsonObject& function) {
        function.text("name", call_name(call.name));
        function.text("arguments", call_arguments(call.arguments));
      });
    });
  }
  out.push_back(']');
}

void write_openai_message(std::string& out, const ModelMessage& message, bool with_reasoning) {
  write_object(out, [&](JsonObject& object) {
    object.text("role", name(message.role));
    if (message.role == Role::user && !message.parts.empty()) {
      object.json("content", message.parts);
    } else {
      object.text("content", message.content);
    }
    if (message.role == Role::tool) object.text("tool_call_id", message.tool_call_id);
    if (message.role != Role::assistant) return;
    if (!message.tool_calls.empty()) write_openai_calls(object.member("tool_calls"), message.tool_calls);
    if (with_reasoning) object.text_unless_empty("reasoning_content", message.reasoning);
  });
}

// Words of the user that follow each other, as after a turn without an answer, become one message.
std::vector<ModelMessage> alternating(const std::vector<ModelMessage>& messages) {
  std::vector<ModelMessage> made;
  for (const ModelMessage& each : messages) {
    bool again = !made.empty() && each.role == Role::user && made.back().role == Role::user && each.parts.empty() &&
                 made.back().parts.empty();
    if (again) {
      made.back().content += "\n\n" + each.content;
    } else {
      made.push_back(each);
    }
  }
  return made;
}

}  // namespace

std::string openai_request(const RequestPlan& plan, const ModelRequest& request) {
  std::vector<ModelMessage> merged;
  if (plan.habits.alternating) merged = alternating(request.messages);
  const std::vector<ModelMessage>& all = plan.habits.alternating ? merged : request.messages;
  return object_text([&](JsonObject& body) {
    body.text("model", plan.model);
    std::string& messages = body.member("messages");
    messages.push_back('[');
    std::size_t loop = loop_start(all);
    for (std::size_t at = 0; at < all.size(); ++at) {
      if (at > 0) messages.push_back(',');
      write_openai_message(messages, all[at], plan.config.reasoning_back && at >= loop);
    }
    messages.push_back(']');
    if (!request.tools.empty()) {
      std::string& tools = body.member("tools");
      tools.push_back('[');
      for (const ToolDefinition& tool : request.tools) {
        if (tools.back() != '[') tools.push_back(',');
        write_object(tools, [&](JsonObject& object) {
          object.text("type", "function");
          object.object("function", [&](JsonObject& function) {
            function.text("name", tool.name);
            function.text("description", tool.description);
            function.json("parameters", tool_schema(tool.parameters));
          });
        });
      }
      tools.push_back(']');
      // Without it TensorRT-LLM lets the model call nothing.
      body.json("tool_choice", request.tool_choice.empty() ? R"("auto")" : std::string_view(request.tool_choice));
    }
    auto options = joined_members(plan.config.options, request.options);
    if (plan.parallel_calls && !request.tools.empty()) options.try_emplace("parallel_tool_calls", "true");
    for (const auto& [key, value] : options) {
      if (std::ranges::find(kOpenAiOwn, key) != kOpenAiOwn.end()) continue;
      std::string quoted;
      append_json_string(quoted, key);
      quoted.append(":").append(value);
      body.members(quoted);
    }
    if (request.max_tokens > 0) {
      // Newer models of OpenAI itself refuse max_tokens; other servers ignore or refuse the newer name.
      bool newer = plan.habits.newer_limit || options.contains("max_completion_tokens");
      body.number(newer ? "max_completion_tokens" : "max_tokens", request.max_tokens);
    }
    if (plan.use == RequestUse::count) return;
    body.flag("stream", true);
    if (plan.habits.bare_stream) return;
    body.object("stream_options", [](JsonObject& stream) { stream.flag("include_usage", true); });
  });
}

}  // namespace shepherd
