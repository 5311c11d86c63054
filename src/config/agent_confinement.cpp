#include "config/agent_confinement.h"

#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace shepherd {
namespace {

std::vector<std::string> secret_files(const Config& config) {
  std::vector<std::string> paths{config.public_port.tls_key,
                                 config.internal.tls_key,
                                 config.grpc.tls_key,
                                 config.steering.tokens.file,
                                 config.steering.tokens.github_app_key_file,
                                 config.steering.callbacks.secret_file};
  for (const auto& [name, agent] : config.agents) {
    if (const RemoteAgent* remote = agent.remote()) {
      paths.push_back(remote->token_file);
      paths.push_back(remote->key_file);
      if (!remote->metadata.empty()) paths.push_back(config.file);
    } else if (!agent.program()->environment.empty()) {
      paths.push_back(config.file);
    }
  }
  for (const auto& [name, model] : config.models) {
    paths.push_back(model.key_file);
    if (!model.headers.empty()) paths.push_back(config.file);
  }
  for (const auto& [name, server] : config.mcp_servers) {
    paths.push_back(server.key_file);
    if (!server.headers.empty() || !server.environment.empty()) paths.push_back(config.file);
  }
  std::erase(paths, "");
  return paths;
}

void append_path(const std::string& path, std::vector<std::string>& directories) {
  for (std::size_t at = 0; at <= path.size();) {
    std::size_t end = std::min(path.find(':', at), path.size());
    if (end > at) directories.push_back(path.substr(at, end - at));
    at = end + 1;
  }
}

}  // namespace

void add_confine_option(CLI::App& command, std::string& level) {
  command.add_option("--confine", level, std::string(kConfineHelp));
}

Confinement agent_confinement(const Config& config, const Environment& environment) {
  Confinement wanted;
  wanted.level = confine_level(config.confine).value_or(ConfineLevel::secrets);
  wanted.required = config.confine_required;
  wanted.hidden = secret_files(config);
  wanted.hidden.push_back(config.data);
  if (Result<std::string> usual = default_data_directory(environment)) wanted.hidden.push_back(*std::move(usual));
  std::string runtime = environment("XDG_RUNTIME_DIR");
  if (runtime.empty()) runtime = "/run/user/" + std::to_string(::geteuid());
  if (wanted.level == ConfineLevel::workspace) wanted.hidden.push_back(runtime);
  for (std::string& socket : service_sockets(runtime)) wanted.hidden.push_back(std::move(socket));
  wanted.writable = config.confine_writable;
  if (std::string home = environment("HOME"); !home.empty()) wanted.readable.push_back(std::move(home));
  append_path(environment("PATH"), wanted.readable);
  return wanted;
}

}  // namespace shepherd
