#include "cli/agent_pool.h"

#include <filesystem>

#include "cli/known_agents.h"
#include "cli/local_runner.h"
#include "host/version.h"

namespace shepherd {

PoolOptions pool_options(const Config& config, std::size_t slots) {
  PoolOptions options;
  options.slots = slots;
  options.agents = runnable_agents(config);
  options.version = kVersion;
  options.machine = machine_name();
  std::error_code error;  // absolute, because agents work in other directories
  options.data_directory = std::filesystem::absolute(config.data, error).lexically_normal().string();
  options.redact = config.redact;
  options.rules = config.rules;
  options.settings = [&config](const std::string& agent) { return agent_settings(config, agent); };
  return options;
}

}  // namespace shepherd
