// The body of a request in each dialect. No I/O.
// Threads: value.
#pragma once

#include <cstdint>
#include <string>

#include "llm/model.h"
#include "llm/model_config.h"

namespace shepherd {

// What a body is for: an answer, or the number of tokens of the same prompt.
enum class RequestUse : std::uint8_t { answer, count };

// What a server turned out to want otherwise.
struct RequestHabits {
  bool newer_limit = false;  // max_completion_tokens instead of max_tokens: newer models of OpenAI
  bool bare_stream = false;  // without stream_options: older gateways
  bool alternating = false;  // never two messages of the user in a row: the templates of Gemma, Mistral and others
};

struct RequestPlan {
  const ModelConfig& config;
  std::string model;            // as the backend calls it
  std::int64_t max_output = 0;  // of the model, if known
  bool parallel_calls = false;  // say that the model may call several tools at once (llama.cpp wants to hear it)
  RequestUse use = RequestUse::answer;
  RequestHabits habits = {};
};

std::string openai_request(const RequestPlan& plan, const ModelRequest& request);
std::string anthropic_request(const RequestPlan& plan, const ModelRequest& request);
std::string ollama_request(const RequestPlan& plan, const ModelRequest& request);

}  // namespace shepherd
