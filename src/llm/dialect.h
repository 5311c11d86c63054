// How one kind of backend is spoken to. No I/O.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "llm/answer_stream.h"
#include "llm/inquiry.h"
#include "llm/model_config.h"
#include "llm/request_text.h"
#include "net/call_options.h"

namespace shepherd {

// Implementations: OpenAI's, Anthropic's, Ollama's. Threads: value.
class Dialect {
 public:
  virtual ~Dialect() = default;
  virtual std::string_view chat_path() const = 0;
  virtual void add_key(net::HeaderList& headers, const std::string& key) const = 0;
  virtual std::string body(const RequestPlan& plan, const ModelRequest& request) const = 0;
  virtual std::unique_ptr<AnswerStream> answer(std::string id_prefix, const std::string& backend) const = 0;
  virtual std::unique_ptr<Probe> probe(const ModelConfig& config) const = 0;
};

const Dialect& dialect_of(ModelDialect kind);

}  // namespace shepherd
