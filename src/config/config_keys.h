// The table of configuration keys: the only place with their names, kinds and members of Config.
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

// A value of the key's kind, as it was read or will be shown. Numbers and booleans stay text until the key's own rule
// parses them.
using KeyValue = std::variant<std::string, std::vector<std::string>, std::map<std::string, std::string>>;

struct ConfigKey {
  std::string name;  // "public.listen"
  KeyKind kind = KeyKind::text;
  std::string help;
  // Sets the value. The error only describes what is wrong with the value; the caller adds its place.
  std::function<Result<void>(Config&, const KeyValue&)> set;
  std::function<KeyValue(const Config&)> get;
};

const std::vector<ConfigKey>& config_keys();
const ConfigKey* find_config_key(std::string_view name);

// Names from other programs' files that stand for a key. dashboard_port only changes the port of public.listen.
struct KeyAlias {
  std::string name;
  std::string key;
  bool port_only = false;
};
const std::vector<KeyAlias>& config_aliases();

// "SHEPHERD_PUBLIC_LISTEN" for "public.listen".
std::string environment_name(std::string_view key);

// The known name most similar to this one; empty if none is similar.
std::string nearest_key(std::string_view name);

}  // namespace shepherd
