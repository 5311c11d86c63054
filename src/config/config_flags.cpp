#include "config/config_flags.h"

#include <fmt/format.h>

namespace shepherd {

void ConfigFlags::add_to(CLI::App& command) {
  command.add_option("--config", file_,
                     "Configuration file (default: SHEPHERD_CONFIG, ~/.config/shepherd/config.yaml)");
  add_key(command, "--data", "data", "Data directory (default: SHEPHERD_DATA, ~/.local/share/shepherd)");
  command
      .add_option("--set", settings_, "Any setting, KEY=VALUE; may be repeated (\"shepherd config\" lists the keys)")
      ->take_all()
      ->allow_extra_args(false);
}

void ConfigFlags::add_key(CLI::App& command, const std::string& flag, const std::string& key, const std::string& help) {
  command.add_option(flag, keys_[key], help);
}

void ConfigFlags::add_switch(CLI::App& command, const std::string& flag, const std::string& key,
                             const std::string& help) {
  command.add_flag(flag, switches_[key], help);
}

Result<ConfigInputs> ConfigFlags::inputs() const {
  ConfigInputs inputs{file_, {}};
  for (const std::string& setting : settings_) {
    std::size_t equals = setting.find('=');
    if (equals == std::string::npos) {
      return fail(ErrorCode::invalid_argument, "bad_setting",
                  fmt::format("--set needs KEY=VALUE, for example --set retention.days=7; got \"{}\"", setting));
    }
    inputs.flags.emplace_back(setting.substr(0, equals), setting.substr(equals + 1));
  }
  for (const auto& [key, value] : keys_) {
    if (!value.empty()) inputs.flags.emplace_back(key, value);
  }
  for (const auto& [key, given] : switches_) {
    if (given) inputs.flags.emplace_back(key, "true");
  }
  return inputs;
}

}  // namespace shepherd
