// The configuration of models: where each is, how it is spoken to, what it costs.
// Threads: value.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "llm/model.h"
#include "net/event_loop.h"
#include "prices/model_price.h"

namespace shepherd {

enum class ModelDialect : std::uint8_t { openai, anthropic, ollama };

struct ModelConfig {
  std::string name;  // chosen by the user
  ModelDialect dialect = ModelDialect::openai;
  std::string url;    // base address: ".../v1" for openai and anthropic, the server's root for ollama
  std::string model;  // what the backend calls it; empty: the first one that it lists
  std::string key_file, key_command, key_env;  // at most one; the key is read again after it was refused
  std::map<std::string, std::string> headers;  // sent with every request
  std::int64_t context_tokens = 0;             // 0: ask the backend
  std::int64_t max_output_tokens = 0;          // 0: unknown
  std::int64_t first_token_seconds = 0;        // 0: kFirstTokenWait
  std::string options;                         // JSON object sent with every request (temperature, …); or empty
  bool reasoning_back = false;                 // send reasoning_content back inside a tool loop
  bool images = false;                         // the model takes images
  std::string ca_file;                         // for TLS; empty: the system's
  ModelPrice price;
};

// What a call cost; nullopt if a price that it needs is not known.
std::optional<double> cost_of(const ModelPrice& price, const ModelUsage& usage);

// All of these outlive the model.
struct ModelParts {
  net::EventLoop& loop;
  const Clock& clock;
  Random& random;
};

// One backend, with retries before the first token and a circuit breaker. invalid_argument/bad_model_url.
Result<std::unique_ptr<Model>> open_model(const ModelConfig& config, ModelParts parts);
// The first that works, in this order. A call moves on only before its first token. At least one.
std::unique_ptr<Model> first_working(std::vector<std::unique_ptr<Model>> models);

}  // namespace shepherd
