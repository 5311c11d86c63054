// The effective configuration, for people (YAML with origins) and programs (JSON).
#include <fmt/format.h>

#include <boost/json.hpp>

#include "config/config.h"
#include "config/config_keys.h"

namespace shepherd {
namespace {

namespace json = boost::json;

// Unquoted if YAML reads it back as the same text, quoted otherwise.
std::string yaml_scalar(const std::string& text) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-:";
  bool plain = !text.empty() && text.find_first_not_of(kPlain) == std::string::npos && text.front() != '-' &&
               text.front() != ':' && text.back() != ':';
  if (plain) return text;
  bool printable = text.find_first_of("\n\r\t") == std::string::npos;
  if (!printable) return json::serialize(json::value(text));  // YAML reads JSON strings
  std::string quoted = "'";
  for (char c : text) quoted += c == '\'' ? std::string("''") : std::string(1, c);
  return quoted + "'";
}

std::string yaml_value(const KeyValue& value, KeyKind kind) {
  if (const auto* text = std::get_if<std::string>(&value)) return text->empty() ? "''" : yaml_scalar(*text);
  std::string out;
  if (const auto* list = std::get_if<std::vector<std::string>>(&value)) {
    for (const std::string& element : *list) out += (out.empty() ? "" : ", ") + yaml_scalar(element);
    return "[" + out + "]";
  }
  for (const auto& [name, element] : std::get<std::map<std::string, std::string>>(value)) {
    out += fmt::format("{}{}: {}", out.empty() ? "" : ", ", yaml_scalar(name),
                       kind == KeyKind::entries ? element : yaml_scalar(element));
  }
  return "{" + out + "}";
}

std::vector<std::string> parts_of(const std::string& name) {
  std::vector<std::string> parts(1);
  for (char c : name) {
    if (c == '.') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

json::value json_value(const KeyValue& value, KeyKind kind) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    if (kind == KeyKind::boolean) return *text == "true";
    if (kind == KeyKind::number) return json::parse(*text);
    return json::value(*text);
  }
  if (const auto* list = std::get_if<std::vector<std::string>>(&value)) {
    return json::array(list->begin(), list->end());
  }
  json::object table;
  for (const auto& [name, element] : std::get<std::map<std::string, std::string>>(value)) {
    table[name] = json::parse(element);
  }
  return table;
}

}  // namespace

std::string config_as_yaml(const LoadedConfig& loaded) {
  std::string out = "# The settings in effect. Flags win over the environment, the environment over the file";
  out += loaded.file.empty() ? " (none was found).\n" : fmt::format(":\n# {}\n", loaded.file);
  std::vector<std::string> open;  // sections that were already written
  for (const ConfigKey& key : config_keys()) {
    std::vector<std::string> parts = parts_of(key.name);
    std::size_t shared = 0;
    while (shared < open.size() && shared + 1 < parts.size() && open[shared] == parts[shared]) ++shared;
    open.resize(shared);
    for (std::size_t i = shared; i + 1 < parts.size(); ++i) {
      out += fmt::format("{:{}}{}:\n", "", 2 * i, parts[i]);
      open.push_back(parts[i]);
    }
    std::string setting =
        fmt::format("{:{}}{}: {}", "", 2 * open.size(), parts.back(), yaml_value(key.get(loaded.config), key.kind));
    out += fmt::format("{:<44} # ({}) {}\n", setting, loaded.sources.at(key.name), key.help);
  }
  return out;
}

std::string config_as_json(const LoadedConfig& loaded) {
  json::object out;
  for (const ConfigKey& key : config_keys()) {
    out[key.name] = json::object{{"value", json_value(key.get(loaded.config), key.kind)},
                                 {"from", loaded.sources.at(key.name)},
                                 {"environment", environment_name(key.name)}};
  }
  return json::serialize(out);
}

}  // namespace shepherd
