// Reading the YAML file into (key, value, line) entries, without knowing what the values mean. Rejects what it does not
// know: an ignored misspelling is a setting that silently does not apply.
// Threads: value.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/config_keys.h"

namespace shepherd {

struct ConfigEntry {
  std::string name;  // a key or an alias
  KeyValue value;
  int line = 0;  // from 1
};

// `path` is for messages: "config.yaml:7: unknown key …".
Result<std::vector<ConfigEntry>> parse_config(std::string_view yaml, const std::string& path);

// A value from the environment or a flag: text as it is; lists comma-separated or as YAML (`["a,b"]`); tables as YAML.
Result<KeyValue> parse_config_value(const std::string& text, KeyKind kind);

}  // namespace shepherd
