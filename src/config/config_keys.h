// The table of configuration keys: the one place that knows their names, kinds and where they live in Config.
// Threads: value.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "config/config.h"

namespace shepherd {

// entries: a table whose values are themselves YAML, kept as text.
enum class KeyKind { text, number, boolean, list, table, entries };

// A value of the key's kind, as it was read or will be shown. Numbers and booleans are text until the key's own rule
// has looked at them.
using KeyValue = std::variant<std::string, std::vector<std::string>, std::map<std::string, std::string>>;

struct ConfigKey {
  std::string name;  // "public.listen"
  KeyKind kind = KeyKind::text;
  std::string help;
  // Puts a value into the configuration; the error says only what is wrong with the value, the caller adds where.
  std::function<Result<void>(Config&, const KeyValue&)> set;
  std::function<KeyValue(const Config&)> get;
};

const std::vector<ConfigKey>& config_keys();
const ConfigKey* find_config_key(std::string_view name);

// Names that other programs' files use: the key they mean, or the same key under another name. dashboard_port changes
// only the port of public.listen.
struct KeyAlias {
  std::string name;
  std::string key;
  bool port_only = false;
};
const std::vector<KeyAlias>& config_aliases();

// "SHEPHERD_PUBLIC_LISTEN" for "public.listen".
std::string environment_name(std::string_view key);

// The known name that looks most like this one; empty when none is near.
std::string nearest_key(std::string_view name);

}  // namespace shepherd
