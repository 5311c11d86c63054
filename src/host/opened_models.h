// The models of the configuration, opened: each by itself, and those of chat sessions as one that falls back.
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "config/config.h"
#include "llm/model_config.h"

namespace shepherd {

// Threads: strand (the loop of the models); may be made on another thread.
struct OpenedModels {
  std::vector<std::unique_ptr<Model>> all;  // by name
  std::vector<Model*> listed;               // of chat sessions, in their order
  std::unique_ptr<Model> chat;              // the first of those that works; it shares them, so it goes first
};

// invalid_argument/bad_config, invalid_argument/bad_model_url.
Result<OpenedModels> open_models(const Config& config, ModelParts parts);

}  // namespace shepherd
