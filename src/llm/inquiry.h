// What a backend is asked besides answers: how large its context is, how many tokens a prompt has. No I/O.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "llm/model.h"
#include "llm/model_config.h"

namespace shepherd {

// One request. `path` follows the configured address, or the server's root, which is that without "/v1".
struct Question {
  bool at_root = false;
  std::string path;
  std::string body;  // empty: a GET
};

// How a backend counts the tokens of a prompt.
enum class CountWay : std::uint8_t { none, input_tokens, template_and_tokenize, tokenize, anthropic };

// Which server stands behind an address of OpenAI's kind.
enum class ModelServerKind : std::uint8_t { unknown, llama_cpp, vllm, ollama };

// What probing found. Threads: value.
struct Findings {
  ModelFacts facts;
  CountWay count = CountWay::none;
  ModelServerKind server = ModelServerKind::unknown;
};

// Several questions, each depending on the answers before it. Its user asks next() until there is none, and takes every
// answer back.
// Threads: caller.
class Inquiry {
 public:
  virtual ~Inquiry() = default;
  virtual std::optional<Question> next() = 0;
  virtual void take(int status, std::string_view body) = 0;
};

class Probe : public Inquiry {
 public:
  virtual Findings findings() const = 0;
};
std::unique_ptr<Probe> probe_openai(const ModelConfig& config);
std::unique_ptr<Probe> probe_anthropic(const ModelConfig& config);
std::unique_ptr<Probe> probe_ollama(const ModelConfig& config);

class Counting : public Inquiry {
 public:
  virtual Result<std::int64_t> tokens() const = 0;  // after the last question
};
// `body` is the request as request_text.h writes it for RequestUse::count.
std::unique_ptr<Counting> count_tokens(CountWay way, std::string body, std::string backend);

}  // namespace shepherd
