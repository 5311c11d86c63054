// Reads the YAML file into (key, value, line) entries without interpreting the values. Rejects unknown keys, because a
// misspelled setting that is ignored silently does not apply.
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

// Parses a value from the environment or a flag: plain text; comma-separated or YAML lists (`["a,b"]`); YAML tables.
Result<KeyValue> parse_config_value(const std::string& text, KeyKind kind);

}  // namespace shepherd
