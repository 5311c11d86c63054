#include "config/config.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "base/whole_file.h"
#include "config/bad_config.h"
#include "config/config_file.h"
#include "config/config_keys.h"
#include "config/limits.h"

namespace shepherd {
namespace {

struct FoundFile {
  std::string path;
  bool required = false;  // named explicitly, so it must exist
};

std::optional<FoundFile> find_file(const std::string& flag, const Environment& environment) {
  if (!flag.empty()) return FoundFile{flag, true};
  if (std::string named = environment("SHEPHERD_CONFIG"); !named.empty()) return FoundFile{named, true};
  if (std::string xdg = environment("XDG_CONFIG_HOME"); !xdg.empty()) {
    return FoundFile{xdg + "/shepherd/config.yaml", false};
  }
  if (std::string home = environment("HOME"); !home.empty()) {
    return FoundFile{home + "/.config/shepherd/config.yaml", false};
  }
  return std::nullopt;
}

class Loader {
 public:
  LoadedConfig loaded;

  Result<void> apply(const std::string& name, const KeyValue& value, const std::string& source,
                     const std::string& place) {
    Result<void> done = set(name, value, source);
    if (!done) return bad_config(fmt::format("{}: \"{}\": {}", place, name, done.error().message));
    return {};
  }

  Result<void> read_file(const FoundFile& found) {
    Result<std::optional<std::string>> text = read_whole_file(found.path, kMaxConfigBytes);
    if (text && !*text && !found.required) return {};
    if (!text || !*text) {
      return bad_config(fmt::format("cannot read the configuration {}: {}", found.path,
                                    text ? "there is no such file" : text.error().message));
    }
    Result<std::vector<ConfigEntry>> entries = parse_config(**text, found.path);
    if (!entries) return fail(entries.error());
    loaded.file = found.path;
    // Borrowed names first, so that Shepherd's own key wins if a file has both.
    for (bool own : {false, true}) {
      for (const ConfigEntry& entry : *entries) {
        if ((find_config_key(entry.name) != nullptr) != own) continue;
        std::string place = fmt::format("{}:{}", found.path, entry.line);
        if (Result<void> done = apply(entry.name, entry.value, "file " + place, place); !done) return done;
      }
    }
    return {};
  }

 private:
  Result<void> set(const std::string& name, const KeyValue& value, const std::string& source) {
    if (const ConfigKey* key = find_config_key(name)) {
      loaded.sources[name] = source;
      return key->set(loaded.config, value);
    }
    for (const KeyAlias& alias : config_aliases()) {
      if (alias.name != name) continue;
      std::string origin = fmt::format("{} ({})", source, name);
      if (!alias.port_only) {
        loaded.sources[alias.key] = origin;
        return find_config_key(alias.key)->set(loaded.config, value);
      }
      return set_port(alias.key, std::get<std::string>(value), origin);
    }
    return bad_config("unknown key");
  }

  Result<void> set_port(const std::string& key, const std::string& port, const std::string& origin) {
    bool digits = !port.empty() && port.size() <= 5 && port.find_first_not_of("0123456789") == std::string::npos;
    if (!digits || std::stoi(port) > 65'535) return bad_config(fmt::format("\"{}\" is not a port", port));
    std::string& listen = loaded.config.public_port.listen;
    listen = listen.substr(0, listen.rfind(':')) + ":" + port;
    loaded.sources[key] = origin;
    return {};
  }
};

std::string absolute(const std::string& path) {
  std::error_code error;
  std::filesystem::path full = std::filesystem::absolute(path, error).lexically_normal();
  std::string text = error ? path : full.string();
  while (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

}  // namespace

Result<LoadedConfig> load_config(const ConfigInputs& inputs, const Environment& environment) {
  Loader loader;
  loader.loaded.config.data = default_data_directory(environment).value_or("");
  for (const ConfigKey& key : config_keys()) loader.loaded.sources[key.name] = "default";

  if (std::optional<FoundFile> found = find_file(inputs.file, environment)) {
    if (Result<void> read = loader.read_file(*found); !read) return fail(read.error());
  }
  for (const ConfigKey& key : config_keys()) {
    std::string variable = environment_name(key.name);
    std::string text = environment(variable.c_str());
    if (text.empty()) continue;
    Result<KeyValue> value = parse_config_value(text, key.kind);
    if (!value) return bad_config(fmt::format("{}: {}", variable, value.error().message));
    if (Result<void> done = loader.apply(key.name, *value, variable, variable); !done) return fail(done.error());
  }
  for (const auto& [name, text] : inputs.flags) {
    const ConfigKey* key = find_config_key(name);
    if (key == nullptr) {
      std::string near = nearest_key(name);
      return bad_config(fmt::format(
          "unknown key \"{}\"{}", name,
          near.empty() ? "; \"shepherd config\" lists the known ones" : fmt::format("; did you mean \"{}\"?", near)));
    }
    Result<KeyValue> value = parse_config_value(text, key->kind);
    if (!value) return bad_config(fmt::format("\"{}\": {}", name, value.error().message));
    if (Result<void> done = loader.apply(name, *value, "flag", "command line"); !done) return fail(done.error());
  }
  if (!loader.loaded.config.data.empty()) loader.loaded.config.data = absolute(loader.loaded.config.data);
  loader.loaded.config.file = loader.loaded.file;
  loader.loaded.config.confine_required = loader.loaded.sources.at("runners.confine") != "default";
  return std::move(loader.loaded);
}

}  // namespace shepherd
