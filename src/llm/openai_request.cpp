#include <algorithm>
#include <array>
#include <utility>

#include "json/read.h"
#include "json/scan.h"
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

void write_openai_message(std::string& out, const ModelMessage& message, const RequestPlan& plan, bool with_reasoning) {
  write_object(out, [&](JsonObject& object) {
    object.text("role", name(message.role));
    if (message.role == Role::user && !message.parts.empty()) {
      object.json("content", message.parts);
    } else {
      object.text("content", told_content(message, plan.config.images, plan.model));
    }
    if (message.role == Role::tool) object.text("tool_call_id", message.tool_call_id);
    if (message.role != Role::assistant) return;
    if (!message.tool_calls.empty()) write_openai_calls(object.member("tool_calls"), message.tool_calls);
    if (with_reasoning) object.text_unless_empty("reasoning_content", message.reasoning);
  });
}

std::string text_part(std::string_view text) {
  return object_text([&](JsonObject& part) {
    part.text("type", "text");
    part.text("text", text);
  });
}

// The images of a tool's result as a part of a user's message, behind a line that says whose they are.
void add_image_parts(std::string& parts, const ModelMessage& result) {
  parts.append(parts.empty() ? "[" : ",");
  parts += text_part("[" + std::string(result.images->size() == 1 ? "The image" : "The images") + " that " +
                     (result.tool_name.empty() ? "the tool" : result.tool_name) + " returned]");
  for (const ModelImage& image : *result.images) {
    parts.push_back(',');
    write_object(parts, [&](JsonObject& part) {
      part.text("type", "image_url");
      part.object("image_url",
                  [&](JsonObject& url) { url.text("url", "data:" + image.mime_type + ";base64," + image.base64); });
    });
  }
}

// A tool's message has only text in this dialect, and results may not be apart from their calls. So the images of a
// group of results are a message of the user behind it.
std::vector<ModelMessage> with_images(const std::vector<ModelMessage>& messages) {
  std::vector<ModelMessage> made;
  std::string parts;
  auto add_parts = [&] {
    if (parts.empty()) return;
    ModelMessage images;
    images.parts = std::exchange(parts, {}) + "]";
    made.push_back(std::move(images));
  };
  for (const ModelMessage& each : messages) {
    if (each.role != Role::tool) add_parts();
    made.push_back(each);
    if (each.role == Role::tool && each.images != nullptr) add_image_parts(parts, each);
  }
  add_parts();
  return made;
}

std::string as_parts(const ModelMessage& message) {
  return message.parts.empty() ? "[" + text_part(message.content) + "]" : message.parts;
}

// The elements of both arrays; empty if one of them is no array.
std::string joined_parts(const std::string& earlier, const std::string& later) {
  std::string all = "[";
  for (const std::string* parts : {&earlier, &later}) {
    auto elements = array_elements(*parts);
    if (!elements) return {};
    for (std::string_view each : *elements) {
      if (all.size() > 1) all.push_back(',');
      all += each;
    }
  }
  return all + "]";
}

// Words of the user that follow each other, as after a turn without an answer, become one message.
std::vector<ModelMessage> alternating(const std::vector<ModelMessage>& messages) {
  std::vector<ModelMessage> made;
  for (const ModelMessage& each : messages) {
    if (made.empty() || each.role != Role::user || made.back().role != Role::user) {
      made.push_back(each);
      continue;
    }
    ModelMessage& last = made.back();
    if (each.parts.empty() && last.parts.empty()) {
      last.content += "\n\n" + each.content;
    } else if (std::string parts = joined_parts(as_parts(last), as_parts(each)); !parts.empty()) {
      last.parts = std::move(parts);
    } else {
      made.push_back(each);
    }
  }
  return made;
}

}  // namespace

std::string openai_request(const RequestPlan& plan, const ModelRequest& request) {
  std::vector<ModelMessage> made;
  const std::vector<ModelMessage>* sent = &request.messages;
  if (plan.config.images) sent = &(made = with_images(*sent));
  if (plan.habits.alternating) sent = &(made = alternating(*sent));
  const std::vector<ModelMessage>& all = *sent;
  return object_text([&](JsonObject& body) {
    body.text("model", plan.model);
    std::string& messages = body.member("messages");
    messages.push_back('[');
    std::size_t loop = loop_start(all);
    for (std::size_t at = 0; at < all.size(); ++at) {
      if (at > 0) messages.push_back(',');
      write_openai_message(messages, all[at], plan, plan.config.reasoning_back && at >= loop);
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
