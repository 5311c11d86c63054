// What each dialect's servers are asked about themselves.
#include <fmt/format.h>

#include <algorithm>

#include "json/write.h"
#include "llm/chunk_json.h"
#include "llm/inquiry_steps.h"
#include "llm/limits.h"
#include "llm/probe_facts.h"
#include "llm/request_text.h"

namespace shepherd {
namespace {

std::string show_question(const std::string& model) {
  return object_text([&](JsonObject& object) { object.text("model", model); });
}

// Behind one address can be llama.cpp, vLLM, Ollama, TensorRT-LLM or OpenAI; the list of models tells most of them.
class OpenAiProbe final : public InquirySteps<Probe> {
 public:
  explicit OpenAiProbe(const ModelConfig& config) : config_(config) {
    found_.facts = configured_facts(config);
    ask({false, "/models", ""}, [this](int status, std::string_view body) { take_list(status, body); });
  }

  Findings findings() const override {
    Findings found = found_;
    judge_context(found.facts, config_, allocated_);
    return found;
  }

 private:
  void take_list(int status, std::string_view body) {
    auto listed = status == 200 ? listed_model(body, config_.model) : std::nullopt;
    if (status == 200 && !listed && !config_.model.empty()) {
      warn(found_.facts, fmt::format("the server does not list a model \"{}\"", config_.model));
      listed = listed_model(body, "");
      if (listed) listed->context.reset();
    }
    if (listed) {
      if (found_.facts.model.empty()) found_.facts.model = listed->id;
      allocated_ = listed->context;
      find_context(found_.facts, config_, listed->context);
    }
    std::string owner = listed ? listed->owner : "";
    if (owner == "vllm") return ask_vllm();
    if (owner == "library") return ask_ollama();
    if (owner.empty() || owner == "llamacpp") {
      ask({true, "/props", ""}, [this](int code, std::string_view props) { take_props(code, props); });
    }
  }

  // The size in /props is that of one slot; the one in the list can be that of all slots together.
  void take_props(int status, std::string_view body) {
    auto context = status == 200 ? slot_context(body) : std::nullopt;
    if (!context) return;
    found_.server = ModelServerKind::llama_cpp;
    allocated_ = context;
    find_context(found_.facts, config_, context);
    ask({false, "/chat/completions/input_tokens", small_body()}, [this](int code, std::string_view) {
      if (code == 200) return count_by(CountWay::input_tokens);
      ask({true, "/apply-template", small_body()}, [this](int older, std::string_view) {
        if (older == 200) count_by(CountWay::template_and_tokenize);
      });
    });
  }
  void ask_vllm() {
    found_.server = ModelServerKind::vllm;
    ask({true, "/tokenize", small_body()}, [this](int status, std::string_view) {
      if (status == 200) count_by(CountWay::tokenize);
    });
  }
  void ask_ollama() {
    found_.server = ModelServerKind::ollama;
    ask({true, "/api/ps", ""}, [this](int status, std::string_view body) {
      auto context = status == 200 ? loaded_context(body, found_.facts.model) : std::nullopt;
      if (context) {
        allocated_ = context;
        find_context(found_.facts, config_, context);
        return;
      }
      ask({true, "/api/show", show_question(found_.facts.model)}, [this](int code, std::string_view shown) {
        find_context(found_.facts, config_,
                     code == 200 ? shown_model(shown).num_ctx.value_or(kUntoldOllamaContext) : kUntoldOllamaContext);
        warn(found_.facts, "Ollama cuts long prompts silently here; use type \"ollama\" with \"context\"");
      });
    });
  }
  void count_by(CountWay way) {
    found_.count = way;
    found_.facts.counts_exactly = true;
  }
  std::string small_body() const {
    ModelRequest request;
    request.messages.emplace_back().content = "x";
    return openai_request({config_, found_.facts.model, 0, false, RequestUse::count}, request);
  }

  const ModelConfig config_;
  Findings found_;
  std::optional<std::int64_t> allocated_;
};

class AnthropicProbe final : public InquirySteps<Probe> {
 public:
  explicit AnthropicProbe(const ModelConfig& config) : config_(config) {
    found_.facts = configured_facts(config);
    found_.count = CountWay::anthropic;  // an estimate, by its own documentation
    if (config.model.empty()) {
      ask_list();
    } else {
      ask_model();
    }
  }

  Findings findings() const override {
    Findings found = found_;
    judge_context(found.facts, config_, allocated_);
    return found;
  }

 private:
  void ask_model() {
    ask({false, "/models/" + found_.facts.model, ""}, [this](int status, std::string_view body) {
      ChunkJson json;
      auto root = status == 200 ? json.parse(body) : std::nullopt;
      auto context = root ? count_in(*root, "max_input_tokens") : std::nullopt;
      auto output = root ? count_in(*root, "max_tokens") : std::nullopt;
      if (config_.max_output_tokens == 0 && output) found_.facts.max_output_tokens = *output;
      take_context(context);
      if (!context && !listed_) ask_list();
    });
  }
  // Other servers that speak this dialect tell their context elsewhere.
  void ask_list() {
    listed_ = true;
    ask({false, "/models", ""}, [this](int status, std::string_view body) {
      auto model = status == 200 ? listed_model(body, config_.model) : std::nullopt;
      if (!model) return;
      if (found_.facts.model.empty()) {
        found_.facts.model = model->id;
        ask_model();
      }
      take_context(model->context);
      if (model->owner != "llamacpp") return;
      ask({true, "/props", ""}, [this](int code, std::string_view props) {
        if (code == 200) take_context(slot_context(props));
      });
    });
  }
  void take_context(std::optional<std::int64_t> context) {
    if (!context) return;
    allocated_ = context;
    find_context(found_.facts, config_, context);
  }

  const ModelConfig config_;
  Findings found_;
  std::optional<std::int64_t> allocated_;
  bool listed_ = false;
};

class OllamaProbe final : public InquirySteps<Probe> {
 public:
  explicit OllamaProbe(const ModelConfig& config) : config_(config) {
    found_.facts = configured_facts(config);
    found_.server = ModelServerKind::ollama;
    if (!config.model.empty()) {
      ask_shown();
      return;
    }
    ask({false, "/api/tags", ""}, [this](int status, std::string_view body) {
      ChunkJson json;
      auto root = status == 200 ? json.parse(body) : std::nullopt;
      auto models = root ? member_of(*root, "models") : std::nullopt;
      simdjson::dom::element first;
      if (!models || models->at(0).get(first) != simdjson::SUCCESS) return;
      found_.facts.model = json.text(first, "name");
      ask_shown();
    });
  }

  Findings findings() const override {
    Findings found = found_;
    judge_context(found.facts, config_, trained_);
    return found;
  }

 private:
  // The configured context goes with every request, so only a model that cannot have as much is remarkable.
  void ask_shown() {
    ask({false, "/api/show", show_question(found_.facts.model)}, [this](int status, std::string_view body) {
      if (status == 404) warn(found_.facts, fmt::format("the server has no model \"{}\"", found_.facts.model));
      if (status != 200) return;
      ShownModel shown = shown_model(body);
      trained_ = shown.trained;
      if (config_.context_tokens > 0) return;
      std::int64_t untold = shown.num_ctx.value_or(kUntoldOllamaContext);
      find_context(found_.facts, config_, shown.trained ? std::min(untold, *shown.trained) : untold);
      ask({false, "/api/ps", ""}, [this](int code, std::string_view loaded) {
        if (code == 200) find_context(found_.facts, config_, loaded_context(loaded, found_.facts.model));
      });
    });
  }

  const ModelConfig config_;
  Findings found_;
  std::optional<std::int64_t> trained_;
};

}  // namespace

std::unique_ptr<Probe> probe_openai(const ModelConfig& config) {
  return std::make_unique<OpenAiProbe>(config);
}

std::unique_ptr<Probe> probe_anthropic(const ModelConfig& config) {
  return std::make_unique<AnthropicProbe>(config);
}

std::unique_ptr<Probe> probe_ollama(const ModelConfig& config) {
  return std::make_unique<OllamaProbe>(config);
}

}  // namespace shepherd
