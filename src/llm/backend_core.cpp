#include "llm/backend_core.h"

#include <fmt/format.h>

#include <variant>

#include "base/bytes.h"
#include "llm/limits.h"
#include "llm/probe_facts.h"

namespace shepherd {
namespace {

net::CallerOptions model_caller(const ModelConfig& config) {
  net::CallerOptions options;
  options.tls.ca_file = config.ca_file;
  return options;
}

void replace_all(std::string& text, std::string_view secret) {
  constexpr std::string_view kHiddenText = "(hidden)";
  if (secret.size() < kMinHiddenBytes) return;
  for (std::size_t at = text.find(secret); at != std::string::npos; at = text.find(secret, at + kHiddenText.size())) {
    text.replace(at, secret.size(), kHiddenText);
  }
  // Words that were cut can end with the beginning of it.
  constexpr std::string_view kCut = "…";
  for (std::size_t end = text.find(kCut); end != std::string::npos; end = text.find(kCut, end + 1)) {
    for (std::size_t size = secret.size() - 1; size >= kMinHiddenBytes; --size) {
      if (!std::string_view(text).substr(0, end).ends_with(secret.substr(0, size))) continue;
      text.replace(end - size, size, kHiddenText);
      end = end - size + kHiddenText.size();
      break;
    }
  }
}

}  // namespace

BackendCore::BackendCore(const ModelConfig& given, ModelParts given_parts, net::Url address)
    : config(given),
      parts(given_parts),
      dialect(dialect_of(given.dialect)),
      base(std::move(address)),
      base_path(base.target),
      timers(parts.loop, {}),
      caller(parts.loop, model_caller(given)),
      key(given, parts.loop, parts.clock) {
  while (base_path.ends_with('/')) base_path.pop_back();
  root_path = base_path.ends_with("/v1") ? base_path.substr(0, base_path.size() - 3) : base_path;
  if (config.first_token_seconds > 0) waits.first_token = std::chrono::seconds(config.first_token_seconds);
  findings.facts = configured_facts(config);
  if (config.dialect == ModelDialect::anthropic) findings.count = CountWay::anthropic;
}

net::CallRequest BackendCore::request(const Question& question, const std::string& with_key) const {
  net::CallRequest made;
  made.method = question.body.empty() ? "GET" : "POST";
  made.url = base;
  made.url.target = (question.at_root ? root_path : base_path) + question.path;
  made.headers.emplace_back("User-Agent", "shepherd");
  if (!question.body.empty()) made.headers.emplace_back("Content-Type", "application/json");
  dialect.add_key(made.headers, with_key);
  for (const auto& [name, value] : config.headers) made.headers.emplace_back(name, value);
  made.body = own_bytes(question.body);
  return made;
}

RequestPlan BackendCore::plan(RequestUse use) const {
  return {config, model(), findings.facts.max_output_tokens, findings.server == ModelServerKind::llama_cpp,
          use,    habits};
}

std::string BackendCore::hide(std::string text) const {
  replace_all(text, key.last());
  for (const auto& [name, value] : config.headers) {
    replace_all(text, value);
    // "Bearer KEY": the key alone.
    replace_all(text, std::string_view(value).substr(value.rfind(' ') + 1));
  }
  return text;
}

Error BackendCore::hide(Error error) const {
  error.message = hide(std::move(error.message));
  return error;
}

Error BackendCore::unreachable(const Error& cause) const {
  Error error{ErrorCode::unavailable, "model_unreachable",
              fmt::format("model \"{}\" cannot be reached: {}", config.name, cause.message), cause.fields};
  return hide(std::move(error));
}

void BackendCore::learn(const Probe& found) {
  findings = found.findings();
  probed = answers = true;
}

void BackendCore::learn_context(const Error& error) {
  if (error.reason != "context_full") return;
  for (const ErrorField& field : error.fields) {
    const auto* tokens = std::get_if<std::int64_t>(&field.value);
    if (field.name != "contextTokens" || tokens == nullptr || *tokens <= 0) continue;
    std::int64_t& known = findings.facts.context_tokens;
    if (known == 0 || *tokens < known) known = *tokens;
  }
}

}  // namespace shepherd
