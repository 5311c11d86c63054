// What probes of several dialects look for in the same replies.
// Threads: value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "llm/inquiry.h"

namespace shepherd {

// Facts as far as they are configured.
ModelFacts configured_facts(const ModelConfig& config);
// A found size, unless one is configured.
void find_context(ModelFacts& facts, const ModelConfig& config, std::optional<std::int64_t> tokens);
// Adds a sentence to the warning.
void warn(ModelFacts& facts, const std::string& sentence);
// The warnings that every probe ends with: a small context, one larger than the server's, one that is unknown.
void judge_context(ModelFacts& facts, const ModelConfig& config, std::optional<std::int64_t> allocated);

// An entry of GET /models.
struct ListedModel {
  std::string id, owner;
  std::optional<std::int64_t> context;
};
// The entry with that id, or the first; nullopt if the reply has none.
std::optional<ListedModel> listed_model(std::string_view reply, const std::string& id);
// default_generation_settings.n_ctx of llama.cpp's GET /props, the context of one slot; nullopt if it is no such reply.
std::optional<std::int64_t> slot_context(std::string_view props);

// Ollama: the allocated context of a loaded model in GET /api/ps.
std::optional<std::int64_t> loaded_context(std::string_view reply, const std::string& model);
// Ollama's POST /api/show.
struct ShownModel {
  std::optional<std::int64_t> num_ctx, trained;
};
ShownModel shown_model(std::string_view reply);

}  // namespace shepherd
