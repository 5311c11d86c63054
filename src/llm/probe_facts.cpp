#include "llm/probe_facts.h"

#include <fmt/format.h>

#include <charconv>

#include "llm/chunk_json.h"
#include "llm/limits.h"

namespace shepherd {

ModelFacts configured_facts(const ModelConfig& config) {
  ModelFacts facts;
  facts.model = config.model;
  facts.context_tokens = config.context_tokens;
  facts.max_output_tokens = config.max_output_tokens;
  return facts;
}

void find_context(ModelFacts& facts, const ModelConfig& config, std::optional<std::int64_t> tokens) {
  if (config.context_tokens == 0 && tokens && *tokens > 0) facts.context_tokens = *tokens;
}

void warn(ModelFacts& facts, const std::string& sentence) {
  if (!facts.warning.empty()) facts.warning += "; ";
  facts.warning += sentence;
}

void judge_context(ModelFacts& facts, const ModelConfig& config, std::optional<std::int64_t> allocated) {
  if (config.context_tokens > 0 && allocated && *allocated > 0 && *allocated < config.context_tokens) {
    warn(facts, fmt::format("its context is configured as {} tokens, but the server has {}", config.context_tokens,
                            *allocated));
  }
  if (facts.context_tokens == 0) {
    warn(facts, "the server does not report the size of its context; set \"context\"");
  } else if (facts.context_tokens < kSmallContext) {
    warn(facts,
         fmt::format("its context of {} tokens is small for tools and long conversations", facts.context_tokens));
  }
}

std::optional<ListedModel> listed_model(std::string_view reply, const std::string& id) {
  ChunkJson json;
  auto root = json.parse(reply);
  auto data = root ? member_of(*root, "data") : std::nullopt;
  simdjson::dom::array list;
  if (!data || data->get(list) != simdjson::SUCCESS) return std::nullopt;
  for (simdjson::dom::element entry : list) {
    ListedModel model;
    model.id = json.text(entry, "id");
    if (model.id.empty() || (!id.empty() && model.id != id)) continue;
    model.owner = json.text(entry, "owned_by");
    for (std::string_view key : {"max_model_len", "context_window", "context_length", "max_context_length"}) {
      if (!model.context) model.context = count_in(entry, key);
    }
    if (auto meta = member_of(entry, "meta"); meta && !model.context) model.context = count_in(*meta, "n_ctx");
    return model;
  }
  return std::nullopt;
}

std::optional<std::int64_t> slot_context(std::string_view props) {
  ChunkJson json;
  auto root = json.parse(props);
  auto settings = root ? member_of(*root, "default_generation_settings") : std::nullopt;
  return settings ? count_in(*settings, "n_ctx") : std::nullopt;
}

std::optional<std::int64_t> loaded_context(std::string_view reply, const std::string& model) {
  ChunkJson json;
  auto root = json.parse(reply);
  auto models = root ? member_of(*root, "models") : std::nullopt;
  simdjson::dom::array list;
  if (!models || models->get(list) != simdjson::SUCCESS) return std::nullopt;
  for (simdjson::dom::element entry : list) {
    for (std::string_view key : {"name", "model"}) {
      std::string_view found = json.text(entry, key);
      if (found == model || found == model + ":latest") return count_in(entry, "context_length");
    }
  }
  return std::nullopt;
}

ShownModel shown_model(std::string_view reply) {
  ShownModel shown;
  ChunkJson json;
  auto root = json.parse(reply);
  if (!root) return shown;
  // Lines of "name    value".
  std::string_view parameters = json.text(*root, "parameters");
  constexpr std::string_view kName = "num_ctx";
  if (std::size_t at = parameters.find(kName); at != std::string_view::npos) {
    std::string_view value = parameters.substr(at + kName.size());
    value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
    std::int64_t number = 0;
    auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error == std::errc() && number > 0) shown.num_ctx = number;
  }
  simdjson::dom::object info;
  auto member = member_of(*root, "model_info");
  if (!member || member->get(info) != simdjson::SUCCESS) return shown;
  for (auto [key, value] : info) {
    std::int64_t number = 0;
    if (key.ends_with(".context_length") && value.get(number) == simdjson::SUCCESS) shown.trained = number;
  }
  return shown;
}

}  // namespace shepherd
