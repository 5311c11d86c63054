// The `models` section of the configuration: models under user-defined names.
//
//   models:
//     local:  {type: openai, url: "http://127.0.0.1:8000/v1", model: llama, context: 32768}
//     claude: {type: anthropic, url: "https://api.anthropic.com/v1", model: NAME, key_env: ANTHROPIC_API_KEY}
//
// An error describes the problem in the entry; the caller adds its place.
// Threads: value.
#pragma once

#include <string>

#include "base/result.h"
#include "llm/model_config.h"

namespace shepherd {

// `yaml` is the entry itself.
Result<ModelConfig> parse_model_entry(const std::string& name, const std::string& yaml);

// The entry as JSON, which is also YAML. Values of headers are hidden, and their placeholders cannot be read back.
std::string model_entry_json(const ModelConfig& model);

}  // namespace shepherd
