#include "llm/dialect.h"

namespace shepherd {
namespace {

class OpenAiDialect final : public Dialect {
 public:
  std::string_view chat_path() const override { return "/chat/completions"; }
  void add_key(net::HeaderList& headers, const std::string& key) const override {
    if (!key.empty()) headers.emplace_back("Authorization", "Bearer " + key);
  }
  std::string body(const RequestPlan& plan, const ModelRequest& request) const override {
    return openai_request(plan, request);
  }
  std::unique_ptr<AnswerStream> answer(std::string id_prefix, const std::string& /*backend*/) const override {
    return read_openai_stream(std::move(id_prefix));
  }
  std::unique_ptr<Probe> probe(const ModelConfig& config) const override { return probe_openai(config); }
};

class AnthropicDialect final : public Dialect {
 public:
  std::string_view chat_path() const override { return "/messages"; }
  void add_key(net::HeaderList& headers, const std::string& key) const override {
    headers.emplace_back("anthropic-version", "2023-06-01");
    if (!key.empty()) headers.emplace_back("x-api-key", key);
  }
  std::string body(const RequestPlan& plan, const ModelRequest& request) const override {
    return anthropic_request(plan, request);
  }
  std::unique_ptr<AnswerStream> answer(std::string id_prefix, const std::string& backend) const override {
    return read_anthropic_stream(std::move(id_prefix), backend);
  }
  std::unique_ptr<Probe> probe(const ModelConfig& config) const override { return probe_anthropic(config); }
};

class OllamaDialect final : public Dialect {
 public:
  std::string_view chat_path() const override { return "/api/chat"; }
  void add_key(net::HeaderList& headers, const std::string& key) const override {
    if (!key.empty()) headers.emplace_back("Authorization", "Bearer " + key);
  }
  std::string body(const RequestPlan& plan, const ModelRequest& request) const override {
    return ollama_request(plan, request);
  }
  std::unique_ptr<AnswerStream> answer(std::string id_prefix, const std::string& /*backend*/) const override {
    return read_ollama_stream(std::move(id_prefix));
  }
  std::unique_ptr<Probe> probe(const ModelConfig& config) const override { return probe_ollama(config); }
};

}  // namespace

const Dialect& dialect_of(ModelDialect kind) {
  static const OpenAiDialect openai;
  static const AnthropicDialect anthropic;
  static const OllamaDialect ollama;
  switch (kind) {
    case ModelDialect::openai:
      break;
    case ModelDialect::anthropic:
      return anthropic;
    case ModelDialect::ollama:
      return ollama;
  }
  return openai;
}

}  // namespace shepherd
