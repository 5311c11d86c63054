#include <algorithm>
#include <array>

#include "json/scan.h"
#include "json/write.h"
#include "llm/request_parts.h"
#include "llm/request_text.h"

namespace shepherd {
namespace {

void write_ollama_message(std::string& out, const ModelMessage& message, const RequestPlan& plan, bool with_reasoning) {
  write_object(out, [&](JsonObject& object) {
    object.text("role", name(message.role));
    std::string text = told_content(message, plan.config.images, plan.model);
    std::vector<std::string> images;
    if (plan.config.images && message.images != nullptr) {
      for (const ModelImage& image : *message.images) images.push_back(image.base64);
    }
    for (const ContentPart& part : content_parts(message.parts)) {
      if (!part.base64.empty()) images.push_back(part.base64);
      if (!part.text.empty()) text += (text.empty() ? "" : "\n") + part.text;
    }
    object.text("content", text);
    if (!images.empty()) object.texts("images", images);
    if (message.role == Role::tool) {
      if (!message.tool_name.empty()) object.text("tool_name", call_name(message.tool_name));
      object.text_unless_empty("tool_call_id", message.tool_call_id);
    }
    if (message.role != Role::assistant) return;
    if (with_reasoning) object.text_unless_empty("thinking", message.reasoning);
    if (message.tool_calls.empty()) return;
    std::string& calls = object.member("tool_calls");
    calls.push_back('[');
    for (const ToolRequest& call : message.tool_calls) {
      if (calls.back() != '[') calls.push_back(',');
      write_object(calls, [&](JsonObject& one) {
        one.text("id", call.id);
        one.object("function", [&](JsonObject& function) {
          function.text("name", call_name(call.name));
          function.json("arguments", call_arguments(call.arguments));
        });
      });
    }
    calls.push_back(']');
  });
}

// The schema that OpenAI's response_format asks for, in Ollama's form; empty for plain text.
std::string ollama_format(std::string_view response_format) {
  std::string type = text_member(response_format, "type");
  if (type == "json_object") return R"("json")";
  return type == "json_schema" ? std::string(find_member(find_member(response_format, "json_schema"), "schema")) : "";
}

bool wants_no_tools(const ModelRequest& request) {
  return request.tools.empty() || request.tool_choice == R"("none")";
}

}  // namespace

std::string ollama_request(const RequestPlan& plan, const ModelRequest& request) {
  return object_text([&](JsonObject& body) {
    body.text("model", plan.model);
    std::string& messages = body.member("messages");
    messages.push_back('[');
    std::size_t loop = loop_start(request.messages);
    for (std::size_t at = 0; at < request.messages.size(); ++at) {
      if (at > 0) messages.push_back(',');
      write_ollama_message(messages, request.messages[at], plan, plan.config.reasoning_back && at >= loop);
    }
    messages.push_back(']');
    if (!wants_no_tools(request)) {
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
    }
    body.flag("stream", true);
    // By default Ollama silently cuts the beginning of a prompt that is too long.
    body.flag("truncate", false);
    body.flag("shift", false);

    constexpr std::array<std::string_view, 3> kBeside{"think", "keep_alive", "format"};
    constexpr std::array<std::string_view, 9> kOther{
        "parallel_tool_calls",  "user", "metadata", "store", "logprobs", "logit_bias", "reasoning_effort", "n",
        "max_completion_tokens"};
    auto options = joined_members(plan.config.options, request.options);
    if (plan.config.context_tokens > 0) options["num_ctx"] = std::to_string(plan.config.context_tokens);
    if (request.max_tokens > 0) options["num_predict"] = std::to_string(request.max_tokens);
    if (auto format = options.extract("response_format")) {
      if (std::string schema = ollama_format(format.mapped()); !schema.empty()) options.try_emplace("format", schema);
    }
    for (std::string_view key : kBeside) {
      if (auto found = options.extract(std::string(key))) body.json(key, found.mapped());
    }
    for (std::string_view key : kOther) options.erase(std::string(key));
    body.object("options", [&](JsonObject& inner) {
      for (const auto& [key, value] : options) {
        std::string quoted;
        append_json_string(quoted, key);
        quoted.append(":").append(value);
        inner.members(quoted);
      }
    });
  });
}

}  // namespace shepherd
