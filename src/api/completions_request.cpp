#include "api/completions_request.h"

#include <array>
#include <optional>
#include <utility>

#include "api/limits.h"
#include "json/request.h"
#include "json/write.h"

namespace shepherd {
namespace {

namespace dom = simdjson::dom;

// What goes to the backend as it is; each dialect leaves out what it does not know.
constexpr std::array<std::string_view, 33> kPassedOptions{"temperature",
                                                          "top_p",
                                                          "top_k",
                                                          "min_p",
                                                          "typical_p",
                                                          "stop",
                                                          "seed",
                                                          "presence_penalty",
                                                          "frequency_penalty",
                                                          "repetition_penalty",
                                                          "repeat_penalty",
                                                          "repeat_last_n",
                                                          "logit_bias",
                                                          "response_format",
                                                          "parallel_tool_calls",
                                                          "reasoning_effort",
                                                          "reasoning",
                                                          "thinking",
                                                          "think",
                                                          "verbosity",
                                                          "chat_template_kwargs",
                                                          "grammar",
                                                          "json_schema",
                                                          "guided_json",
                                                          "guided_regex",
                                                          "guided_choice",
                                                          "guided_grammar",
                                                          "prediction",
                                                          "service_tier",
                                                          "prompt_cache_key",
                                                          "keep_alive",
                                                          "mirostat",
                                                          "user"};

std::string place(std::string_view list, std::size_t at) {
  return std::string(list) + "[" + std::to_string(at) + "].";
}

// The elements of a list of objects. Calls read(element, at); an element that is no object is refused.
template <class Read>
void each_object(JsonRequest& from, std::string_view key, std::string_view what, std::size_t most,
                 std::optional<Error>& error, Read read) {
  auto member = from.member(key);
  if (!member) return;
  dom::array list;
  if (member->get(list) != simdjson::SUCCESS) return from.refuse(key, "an array of " + std::string(what));
  std::size_t at = 0;
  for (dom::element element : list) {
    if (error) return;
    if (at >= most) return from.refuse(key, "an array of at most " + std::to_string(most) + " " + std::string(what));
    dom::object object;
    if (element.get(object) != simdjson::SUCCESS) return from.refuse(key, "an array of " + std::string(what));
    JsonRequest reader(object, from.path(place(key, at++)), error);
    read(reader);
  }
}

// The words of content parts, or nothing if one of them is no text.
std::optional<std::string> words_of(const dom::array& parts) {
  std::string words;
  bool first = true;
  for (dom::element part : parts) {
    std::string_view type, text;
    if (part["type"].get(type) != simdjson::SUCCESS) return std::nullopt;
    if (part[type == "refusal" ? "refusal" : "text"].get(text) != simdjson::SUCCESS) return std::nullopt;
    if (type != "text" && type != "input_text" && type != "output_text" && type != "refusal") return std::nullopt;
    if (!std::exchange(first, false)) words += "\n";
    words += text;
  }
  return words;
}

bool are_parts(const dom::array& parts) {
  for (dom::element part : parts) {
    std::string_view type;
    if (part["type"].get(type) != simdjson::SUCCESS) return false;
  }
  return true;
}

void read_content(JsonRequest& from, ModelMessage& message) {
  auto content = from.member("content");
  if (!content || content->is_string()) return from.text("content", message.content);
  dom::array parts;
  if (content->get(parts) != simdjson::SUCCESS) return from.refuse("content", "a string or an array of content parts");
  auto words = words_of(parts);
  bool alone = words && parts.size() <= 1;
  if (alone || (words && message.role != Role::user)) {
    message.content = *std::move(words);
  } else if (message.role != Role::user) {
    from.refuse("content", "text: only a user's message can have other parts");
  } else if (!are_parts(parts)) {
    from.refuse("content", "a string or an array of content parts, each with a \"type\"");
  } else {
    message.parts = simdjson::minify(parts);
  }
}

void read_calls(JsonRequest& from, ModelMessage& message, std::optional<Error>& error) {
  each_object(from, "tool_calls", "tool calls", kMaxCompletionMessages, error, [&](JsonRequest& call) {
    ToolRequest made;
    call.text("id", made.id);
    auto function = call.object("function");
    if (!function) return call.refuse("function", "an object with \"name\" and \"arguments\"");
    function->text("name", made.name);
    if (made.name.empty()) return function->refuse("name", "the name of a function");
    auto arguments = function->member("arguments");
    if (arguments && arguments->is_object()) {
      made.arguments = simdjson::minify(*arguments);
    } else {
      function->text("arguments", made.arguments);
    }
    if (made.arguments.empty()) made.arguments = "{}";
    message.tool_calls.push_back(std::move(made));
  });
}

ModelMessage read_message(JsonRequest& from, std::optional<Error>& error) {
  ModelMessage message;
  std::string role;
  from.text("role", role);
  auto known = role == "developer" ? Role::system : role_named(role);
  if (!known) {
    from.refuse("role", "system, developer, user, assistant or tool");
    return message;
  }
  message.role = *known;
  read_content(from, message);
  if (message.role == Role::assistant) {
    read_calls(from, message, error);
    from.text("reasoning_content", message.reasoning);
  }
  if (message.role == Role::tool) {
    from.text("tool_call_id", message.tool_call_id);
    from.text("name", message.tool_name);
    if (message.tool_call_id.empty()) from.refuse("tool_call_id", "the id of the call that this answers");
  }
  return message;
}

bool is_function_name(std::string_view name) {
  if (name.empty() || name.size() > kMaxCallerToolNameBytes) return false;
  return name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") ==
         std::string_view::npos;
}

ToolDefinition read_tool(JsonRequest& from) {
  ToolDefinition tool;
  std::string type = "function";
  from.text("type", type);
  auto function = from.object("function");
  if (type != "function" || !function) {
    from.refuse("type", "\"function\", with the function beside it: there are no other tools here");
    return tool;
  }
  function->text("name", tool.name);
  if (!is_function_name(tool.name)) function->refuse("name", "letters, digits, '_' and '-', at most 64");
  function->text("description", tool.description);
  if (auto parameters = function->member("parameters")) {
    if (!parameters->is_object()) function->refuse("parameters", "a JSON Schema object");
    tool.parameters = simdjson::minify(*parameters);
  }
  return tool;
}

void read_flag(JsonRequest& from, std::string_view key, bool& into) {
  auto member = from.member(key);
  if (!member) return;
  if (!member->is_bool()) return from.refuse(key, "true or false");
  into = member->get_bool().value();
}

// A number of at most 0 asks for no bound, as llama.cpp has it.
void read_most(JsonRequest& from, std::string_view key, std::int64_t& into) {
  auto member = from.member(key);
  if (!member) return;
  std::int64_t value = 0;
  if (member->get(value) != simdjson::SUCCESS) return from.refuse(key, "a whole number");
  if (value > 0) into = value;
}

void read_options(JsonRequest& from, ModelRequest& request) {
  std::string options;
  for (std::string_view key : kPassedOptions) {
    auto member = from.member(key);
    if (!member) continue;
    options += options.empty() ? "{" : ",";
    append_json_string(options, key);
    options += ":" + std::string(simdjson::minify(*member));
  }
  read_most(from, "max_tokens", request.max_tokens);
  std::int64_t newer = 0;
  read_most(from, "max_completion_tokens", newer);
  if (newer > 0) {
    request.max_tokens = newer;
    // Tells the backend's dialect which of the two names the client uses.
    options += (options.empty() ? "{" : ",") + std::string(R"("max_completion_tokens":)") + std::to_string(newer);
  }
  if (!options.empty()) request.options = options + "}";
}

// What the server cannot give would be missing in the answer, and the client would not learn why.
void refuse_unanswerable(JsonRequest& from) {
  bool logprobs = false;
  read_flag(from, "logprobs", logprobs);
  if (logprobs) from.refuse("logprobs", "false: this server does not pass on log probabilities");
  std::int64_t choices = 1;
  from.whole("n", choices);
  if (choices != 1) from.refuse("n", "1: this server gives one answer to a request");
}

}  // namespace

Result<CompletionBody> read_completion(std::string_view json) {
  JsonParser parser(json.size());
  auto object = request_object(parser, json);
  if (!object) return fail(object.error());
  std::optional<Error> error;
  JsonRequest from(*object, "", error);
  CompletionBody body;
  from.text("model", body.model);
  if (body.model.empty()) from.refuse("model", "the id of a model; GET /v1/models lists them");
  refuse_unanswerable(from);
  each_object(from, "messages", "messages", kMaxCompletionMessages, error,
              [&](JsonRequest& message) { body.request.messages.push_back(read_message(message, error)); });
  if (body.request.messages.empty()) from.refuse("messages", "an array of at least one message");
  each_object(from, "tools", "tools", kMaxCompletionTools, error,
              [&](JsonRequest& tool) { body.request.tools.push_back(read_tool(tool)); });
  if (auto choice = from.member("tool_choice")) {
    if (!choice->is_string() && !choice->is_object()) from.refuse("tool_choice", "a word or an object");
    body.request.tool_choice = simdjson::minify(*choice);
  }
  read_options(from, body.request);
  read_flag(from, "stream", body.stream);
  if (auto options = from.object("stream_options")) read_flag(*options, "include_usage", body.include_usage);
  if (error) return fail(*std::move(error));
  return body;
}

}  // namespace shepherd
