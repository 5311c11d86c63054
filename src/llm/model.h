// A language model behind an API: conversations in, text and tool calls out, as they are generated.
//
// One interface for every backend (llm/openai, llm/anthropic, llm/ollama) and for what is built over backends (retries,
// circuit breakers, a list of fall-backs). Everything is on the event loop: a call holds no thread while it waits.
// Threads: strand (the loop's), unless a type says otherwise.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace shepherd {

enum class Role : std::uint8_t { system, user, assistant, tool };
std::string_view name(Role role);
std::optional<Role> role_named(std::string_view name);

// A tool that the model wants to use.
struct ToolRequest {
  std::string id;         // never empty in an answer: made up if the backend gave none
  std::string name;       // may be unknown: a model can invent names
  std::string arguments;  // JSON text as the model wrote it, which may not parse; "{}" if it wrote nothing

  friend bool operator==(const ToolRequest&, const ToolRequest&) = default;
};

// Threads: value.
struct ModelImage {
  std::string mime_type, base64;
};

// One message of a conversation. Threads: value.
struct ModelMessage {
  Role role = Role::user;
  std::string content;                  // text; may be empty
  std::string parts;                    // user: a JSON array of OpenAI content parts instead of `content`; or empty
  std::vector<ToolRequest> tool_calls;  // assistant
  std::string tool_call_id, tool_name;  // tool
  bool failed = false;                  // tool: the content says what went wrong
  std::string reasoning;                // assistant: what it thought, for backends that want it back in a tool loop
  std::string reasoning_state;          // assistant: opaque to everything but the backend that wrote it; or empty
  // tool: what it returned beside the content. A model without the images themselves is told how many it does not see.
  std::size_t image_count = 0;
  std::shared_ptr<const std::vector<ModelImage>> images = nullptr;
};

// A tool that the model may use. Threads: value.
struct ToolDefinition {
  std::string name;  // [A-Za-z0-9_-]{1,64}
  std::string description;
  std::string parameters;  // a JSON Schema object
};

// Threads: value.
struct ModelRequest {
  std::vector<ModelMessage> messages;  // a system message first, if any
  std::vector<ToolDefinition> tools;
  std::string tool_choice;      // JSON in OpenAI's form; empty: the model decides
  std::int64_t max_tokens = 0;  // 0: not sent where the backend allows that
  std::string options;          // a JSON object with more members in OpenAI's names (temperature, stop, …); or empty
};

// Tokens of one call. Threads: value.
struct ModelUsage {
  bool known = false;                            // the backend reported them
  std::int64_t input = 0, output = 0;            // input: everything in the prompt, cached or not
  std::int64_t cache_read = 0, cache_write = 0;  // of the input
  std::int64_t reasoning = 0;                    // of the output
};

enum class Finish : std::uint8_t { stop, length, tool_calls, filtered, refused };
std::string_view name(
    Finish finish);  // OpenAI's finish_reason: stop, length, tool_calls, content_filter, content_filter

// Threads: value.
struct ModelAnswer {
  std::string text, reasoning, reasoning_state;
  std::vector<ToolRequest> tool_calls;
  Finish finish = Finish::stop;
  ModelUsage usage;
  std::string backend;  // the configured name of the one that answered
  std::string model;    // as the backend calls it
};

// Called on the loop, never inside start(). It may destroy its call.
class ModelObserver {
 public:
  virtual ~ModelObserver() = default;
  virtual void on_text(std::string_view piece) = 0;  // valid UTF-8, never empty, never half a character
  virtual void on_reasoning(std::string_view piece) = 0;
  // The call waits and is made again, or goes to another backend. Nothing of the answer has come yet.
  virtual void on_retry(std::string_view /*why*/) {}
  // The last one, exactly once, unless the call was cancelled. An answer that broke off is an error; what came before
  // it was passed on. Errors of every backend, by reason:
  //   context_full       invalid_argument; fields `promptTokens` and `contextTokens` where the backend names them
  //   model_refused      invalid_argument: the request itself is wrong (400, 404, 422)
  //   model_key          permission_denied: the backend does not accept the key (401, 403)
  //   model_busy         rate_limited: 429, 503, 529, and retries did not help; field `retryAfterSeconds` if known
  //   model_unreachable  unavailable: no connection, or a time-out; the message names the phase that was slow
  //   model_failed       unavailable: 5xx, or an error in the middle of the stream
  //   model_broke_off    unavailable: the stream ended without an end
  //   answer_too_long    too_large: more than kMaxAnswerBytes, kMaxAnswerToolCalls or kMaxToolArgumentBytes
  // No message contains a key.
  virtual void on_end(Result<ModelAnswer> answer) = 0;
};

// A call under way. Destroying it cancels it: the connection closes, which frees the backend's slot, and the observer
// is not called any more.
class ModelCall {
 public:
  virtual ~ModelCall() = default;
};

// What is known of a model; 0 is unknown. Threads: value.
struct ModelFacts {
  std::string model;                // as the backend calls it
  std::int64_t context_tokens = 0;  // prompt and answer together
  std::int64_t max_output_tokens = 0;
  bool counts_exactly = false;  // count() gives the number that usage.input will have
  std::string warning;          // for the log: what is probably misconfigured; empty: nothing
};

class Model {
 public:
  virtual ~Model() = default;

  virtual const std::string& name() const = 0;  // as configured
  virtual std::unique_ptr<ModelCall> start(ModelRequest request, ModelObserver& observer) = 0;
  // Counts the tokens of the prompt that this request would be. not_found/no_count where the backend cannot.
  virtual std::unique_ptr<ModelCall> count(const ModelRequest& request,
                                           std::move_only_function<void(Result<std::int64_t>)> done) = 0;
  // Asks the backend, where it can be asked; configured values win. Also an error leaves what is configured.
  virtual std::unique_ptr<ModelCall> probe(std::move_only_function<void(Result<ModelFacts>)> done) = 0;
  // What probe() found last, or what is configured.
  virtual ModelFacts facts() const = 0;
  // Whether it answered when it was asked last; false before the first time.
  virtual bool answers() const = 0;
};

}  // namespace shepherd
