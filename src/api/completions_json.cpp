#include "api/completions_json.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "api/problem.h"
#include "api/status_map.h"
#include "json/write.h"

namespace shepherd {
namespace {

constexpr std::string_view kStreamEnd = "data: [DONE]\n\n";

void write_usage(JsonObject& usage, const CompletionEnd& end) {
  usage.number("prompt_tokens", end.usage.input);
  usage.number("completion_tokens", end.usage.output);
  usage.number("total_tokens", end.usage.input + end.usage.output);
  usage.object("prompt_tokens_details",
               [&](JsonObject& details) { details.number("cached_tokens", end.usage.cache_read); });
  usage.object("completion_tokens_details",
               [&](JsonObject& details) { details.number("reasoning_tokens", end.usage.reasoning); });
  if (end.cost) usage.number("cost", *end.cost);
}

void write_calls(std::string& out, const std::vector<ToolRequest>& calls, bool with_index) {
  out.push_back('[');
  for (std::size_t at = 0; at < calls.size(); ++at) {
    if (at > 0) out.push_back(',');
    write_object(out, [&](JsonObject& call) {
      if (with_index) call.number("index", at);
      call.text("id", calls[at].id);
      call.text("type", "function");
      call.object("function", [&](JsonObject& function) {
        function.text("name", calls[at].name);
        function.text("arguments", calls[at].arguments);
      });
    });
  }
  out.push_back(']');
}

std::string_view error_type(int status) {
  switch (status) {
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    case 404:
      return "not_found_error";
    case 429:
      return "rate_limit_error";
    default:
      return status >= 500 ? "server_error" : "invalid_request_error";
  }
}

std::string text_field(const Error& error, std::string_view name) {
  for (const ErrorField& field : error.fields) {
    const auto* text = std::get_if<std::string>(&field.value);
    if (field.name == name && text != nullptr) return *text;
  }
  return {};
}

std::int64_t number_field(const Error& error, std::string_view name) {
  for (const ErrorField& field : error.fields) {
    const auto* number = std::get_if<std::int64_t>(&field.value);
    if (field.name == name && number != nullptr) return *number;
  }
  return 0;
}

}  // namespace

// --- streams ---

CompletionChunks::CompletionChunks(CompletionShape shape) : shape_(std::move(shape)) {
  head_ = "data: " + object_text([&](JsonObject& chunk) {
            chunk.text("id", shape_.id);
            chunk.text("object", "chat.completion.chunk");
            chunk.number("created", shape_.created_s);
            chunk.text("model", shape_.model);
          });
  head_.back() = ',';  // the object continues
}

template <class Fill>
void CompletionChunks::chunk(std::string& out, std::string_view finish, Fill&& fill_delta) const {
  out += head_;
  out += R"("choices":[{"index":0,"delta":)";
  write_object(out, std::forward<Fill>(fill_delta));
  out += R"(,"logprobs":null,"finish_reason":)";
  if (finish.empty()) {
    out += "null";
  } else {
    append_json_string(out, finish);
  }
  out += "}]}\n\n";
}

void CompletionChunks::role(std::string& out) const {
  chunk(out, "", [](JsonObject& delta) {
    delta.text("role", "assistant");
    delta.text("content", "");
  });
}

void CompletionChunks::text(std::string& out, std::string_view piece) const {
  chunk(out, "", [&](JsonObject& delta) { delta.text("content", piece); });
}

void CompletionChunks::reasoning(std::string& out, std::string_view piece) const {
  chunk(out, "", [&](JsonObject& delta) { delta.text("reasoning_content", piece); });
}

void CompletionChunks::end(std::string& out, const CompletionEnd& end) const {
  if (!end.tool_calls.empty()) {
    chunk(out, "", [&](JsonObject& delta) { write_calls(delta.member("tool_calls"), end.tool_calls, true); });
  }
  chunk(out, name(end.finish), [](JsonObject&) {});
  if (shape_.include_usage && end.usage.known) {
    out += head_;
    out += R"("choices":[],"usage":)";
    write_object(out, [&](JsonObject& usage) { write_usage(usage, end); });
    out += "}\n\n";
  }
  out += kStreamEnd;
}

void CompletionChunks::error(std::string& out, const Error& error) const {
  out += "data: " + completion_error_json(error, completion_status(error)) + "\n\n";
}

// --- whole answers ---

std::string completion_json(const CompletionShape& shape, const CompletionEnd& end) {
  return object_text([&](JsonObject& answer) {
    answer.text("id", shape.id);
    answer.text("object", "chat.completion");
    answer.number("created", shape.created_s);
    answer.text("model", shape.model);
    std::string& choices = answer.member("choices");
    choices.push_back('[');
    write_object(choices, [&](JsonObject& choice) {
      choice.json("index", "0");
      choice.object("message", [&](JsonObject& message) {
        message.text("role", "assistant");
        if (end.text.empty() && !end.tool_calls.empty()) {
          message.json("content", "null");
        } else {
          message.text("content", end.text);
        }
        message.json("refusal", "null");
        message.text_unless_empty("reasoning_content", end.reasoning);
        if (!end.tool_calls.empty()) write_calls(message.member("tool_calls"), end.tool_calls, false);
      });
      choice.json("logprobs", "null");
      choice.text("finish_reason", name(end.finish));
    });
    choices.push_back(']');
    if (end.usage.known) answer.object("usage", [&](JsonObject& usage) { write_usage(usage, end); });
  });
}

// --- models ---

std::string completion_model_json(const CompletionModel& model, std::int64_t created_s) {
  return object_text([&](JsonObject& object) {
    object.text("id", model.id);
    object.text("object", "model");
    object.number("created", created_s);
    object.text("owned_by", "shepherd");
    object.text("name", model.id);
    if (model.facts.context_tokens <= 0) return;
    object.number("context_length", model.facts.context_tokens);
    object.number("max_model_len", model.facts.context_tokens);
  });
}

std::string completion_models_json(const std::vector<CompletionModel>& models, std::int64_t created_s) {
  return object_text([&](JsonObject& list) {
    list.text("object", "list");
    std::string& data = list.member("data");
    data.push_back('[');
    for (const CompletionModel& model : models) {
      if (data.back() != '[') data.push_back(',');
      data += completion_model_json(model, created_s);
    }
    data.push_back(']');
  });
}

// --- errors ---

int completion_status(const Error& error) {
  const std::string& reason = error.reason;
  if (reason == "model_key" || reason == "model_failed" || reason == "model_broke_off" || reason == "answer_too_long") {
    return 502;
  }
  if (reason == "model_refused" && number_field(error, "status") == 404) return 404;
  return http_status(error.code);
}

std::string completion_error_json(const Error& error, int status) {
  return object_text([&](JsonObject& body) {
    body.object("error", [&](JsonObject& object) {
      object.text("message", error.message);
      object.text("type", error_type(status));
      std::string param = text_field(error, "member");
      if (param.empty()) {
        object.json("param", "null");
      } else {
        object.text("param", param);
      }
      // The name under which programs look for it.
      object.text("code", error.reason == "context_full" ? "context_length_exceeded" : error.reason);
    });
  });
}

net::Response completion_problem(const Error& error, int status) {
  net::Response response = problem(error, status);
  response.content_type = "application/json";
  response.body = completion_error_json(error, status);
  return response;
}

}  // namespace shepherd
