#include "config/config_file.h"
#include "config/bad_config.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <set>
#include <utility>

namespace shepherd {
namespace {

Result<std::string> scalar(const YAML::Node& node) {
  if (node.IsNull()) return std::string();
  if (!node.IsScalar()) return bad_config("needs a single value");
  return node.Scalar();
}

// A node as YAML on one line.
std::string flow_text(const YAML::Node& node) {
  YAML::Emitter out;
  out.SetMapFormat(YAML::Flow);
  out.SetSeqFormat(YAML::Flow);
  out << node;
  return out.c_str();
}

std::vector<std::string> comma_separated(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    std::size_t comma = std::min(text.find(','), text.size());
    std::string_view part = text.substr(0, comma);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    if (!part.empty()) parts.emplace_back(part);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return parts;
}

Result<KeyValue> value_of(const YAML::Node& node, KeyKind kind) {
  if (kind == KeyKind::list) {
    if (node.IsNull()) return std::vector<std::string>();
    if (node.IsScalar()) return comma_separated(node.Scalar());
    if (!node.IsSequence()) return bad_config("needs a list");
    std::vector<std::string> list;
    for (const YAML::Node& element : node) {
      Result<std::string> text = scalar(element);
      if (!text) return fail(text.error());
      list.push_back(*std::move(text));
    }
    return list;
  }
  if (kind == KeyKind::table || kind == KeyKind::entries) {
    if (node.IsNull()) return std::map<std::string, std::string>();
    if (!node.IsMap()) return bad_config("needs a table of names and values");
    std::map<std::string, std::string> table;
    for (const auto& pair : node) {
      Result<std::string> name = scalar(pair.first);
      if (!name) return fail(name.error());
      Result<std::string> text = kind == KeyKind::entries ? flow_text(pair.second) : scalar(pair.second);
      if (!text) return fail(text.error());
      table[*name] = *text;
    }
    return table;
  }
  Result<std::string> text = scalar(node);
  if (!text) return fail(text.error());
  return *std::move(text);
}

const ConfigKey* key_or_alias(const std::string& name) {
  if (const ConfigKey* key = find_config_key(name)) return key;
  for (const KeyAlias& alias : config_aliases()) {
    if (alias.name == name) return find_config_key(alias.key);
  }
  return nullptr;
}

bool is_section(const std::string& name) {
  std::string prefix = name + ".";
  auto inside = [&](const auto& known) { return known.name.starts_with(prefix); };
  return std::any_of(config_keys().begin(), config_keys().end(), inside) ||
         std::any_of(config_aliases().begin(), config_aliases().end(), inside);
}

class Walk {
 public:
  explicit Walk(const std::string& path) : path_(path) {}

  Result<void> section(const YAML::Node& node, const std::string& prefix) {
    if (node.IsNull()) return {};
    if (!node.IsMap())
      return at(node, prefix.empty() ? "the file" : fmt::format("\"{}\"", prefix), "needs keys inside");
    std::set<std::string> seen;
    for (const auto& pair : node) {
      if (!pair.first.IsScalar()) return at(pair.first, "a key", "must be a word");
      std::string name = prefix.empty() ? pair.first.Scalar() : prefix + "." + pair.first.Scalar();
      if (!seen.insert(name).second) return at(pair.first, fmt::format("\"{}\"", name), "is given twice");
      if (Result<void> entry = member(pair.first, pair.second, name); !entry) return entry;
    }
    return {};
  }

  std::vector<ConfigEntry> entries;

 private:
  Result<void> member(const YAML::Node& key_node, const YAML::Node& node, const std::string& name) {
    const ConfigKey* key = key_or_alias(name);
    if (key == nullptr && is_section(name)) return section(node, name);
    if (key == nullptr) {
      std::string near = nearest_key(name);
      return at(
          key_node, fmt::format("unknown key \"{}\"", name),
          near.empty() ? "; \"shepherd config\" lists the known ones" : fmt::format("; did you mean \"{}\"?", near));
    }
    Result<KeyValue> value = value_of(node, name == key->name ? key->kind : KeyKind::text);
    if (!value) return at(key_node, fmt::format("\"{}\"", name), value.error().message);
    entries.push_back({name, *std::move(value), key_node.Mark().line + 1});
    return {};
  }

  std::unexpected<Error> at(const YAML::Node& node, const std::string& what, const std::string& problem) {
    return bad_config(
        fmt::format("{}:{}: {}{}{}", path_, node.Mark().line + 1, what, problem.starts_with(';') ? "" : " ", problem));
  }

  const std::string& path_;
};

}  // namespace

Result<std::vector<ConfigEntry>> parse_config(std::string_view yaml, const std::string& path) {
  try {
    Walk walk(path);
    YAML::Node root = YAML::Load(std::string(yaml));
    if (Result<void> walked = walk.section(root, ""); !walked) return fail(walked.error());
    return std::move(walk.entries);
  } catch (const YAML::Exception& error) {
    return bad_config(fmt::format("{}:{}: not valid YAML: {}", path, error.mark.line + 1, error.msg));
  }
}

Result<KeyValue> parse_config_value(const std::string& text, KeyKind kind) {
  bool is_yaml = text.starts_with('[') || text.starts_with('{');
  if (kind == KeyKind::list && !is_yaml) return comma_separated(text);
  if (kind != KeyKind::list && kind != KeyKind::table && kind != KeyKind::entries) return text;
  try {
    return value_of(YAML::Load(text), kind);
  } catch (const YAML::Exception& error) {
    return bad_config(fmt::format("is not valid YAML: {}", error.msg));
  }
}

}  // namespace shepherd
