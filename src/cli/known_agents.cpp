#include "cli/known_agents.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "config/nearest_word.h"
#include "driver/registry/registry.h"
#include "runner/remote_agent.h"
#include "runner/task_run.h"

namespace shepherd {
namespace {

constexpr std::string_view kClaude = "claude";  // the only agent whose program is checked
constexpr std::string_view kService = "grpc";   // a remote agent, which needs an address

std::unexpected<Error> wrong(std::string reason, std::string message) {
  return fail(ErrorCode::invalid_argument, std::move(reason), std::move(message));
}

bool can_run(const std::string& path) {
  return access(path.c_str(), X_OK) == 0;
}

// Resolves the program like its process will: a name in PATH, or a path relative to its directory.
bool is_here(const std::string& program, const RunRequest& request) {
  if (program.starts_with('/')) return can_run(program);
  if (program.contains('/')) return can_run((request.directory.empty() ? "." : request.directory) + "/" + program);
  std::string path;
  for (const std::string& variable : agent_environment()) {
    if (variable.starts_with("PATH=")) path = variable.substr(5);
  }
  if (auto own = request.environment.find("PATH"); own != request.environment.end()) path = own->second;
  for (std::size_t at = 0; at < path.size();) {
    std::size_t end = std::min(path.find(':', at), path.size());
    if (can_run(path.substr(at, end - at) + "/" + program)) return true;
    at = end + 1;
  }
  return false;
}

}  // namespace

std::vector<std::string> runnable_agents(const Config& config) {
  std::vector<std::string> names;
  for (std::string_view name : driver_names()) {
    if (name != kService) names.emplace_back(name);
  }
  for (const auto& [name, agent] : config.agents) names.push_back(name);
  return names;
}

Result<void> check_agent(const Config& config, const RunRequest& request) {
  if (!request.command.empty()) return {};
  bool service = request.agent == kService || config.agents.contains(request.agent);
  if (service && (request.worktree || !request.program.empty() || !request.resume_of.empty())) {
    return wrong("not_for_a_service", fmt::format("the agent {} is a service: it has no program, work tree or earlier "
                                                  "conversation here",
                                                  request.agent));
  }
  if (!request.address.empty()) {
    if (request.agent != kService) {
      return wrong("address_without_service", fmt::format("an address is for the agent grpc, not for {}; where the "
                                                          "agents of the configuration are stands there",
                                                          request.agent));
    }
    return check_address(request.address);
  }
  if (request.agent == kService) {
    return wrong("no_address",
                 "the agent grpc needs an address: --address HOST:PORT; or give it a name under \"agents\" in the "
                 "configuration");
  }
  std::vector<std::string> names = runnable_agents(config);
  for (const std::string& name : names) {
    if (name == request.agent) return {};
  }
  std::string near = nearest_word(request.agent, names);
  names.emplace_back("grpc (with --address)");
  return wrong("unknown_agent",
               fmt::format("there is no agent \"{}\"{}; known are {}", request.agent,
                           near.empty() ? "" : fmt::format(" (did you mean \"{}\"?)", near), fmt::join(names, ", ")));
}

Result<void> check_program(const Config& config, const RunRequest& request) {
  if (!request.command.empty() || request.agent != kClaude) return {};
  std::string program = !request.program.empty()        ? request.program
                        : config.claude_program.empty() ? std::string(kClaude)
                                                        : config.claude_program;
  if (is_here(program, request)) return {};
  if (!request.program.empty()) {
    return wrong("no_program", fmt::format("--program: there is no program {}", program));
  }
  return wrong("no_program",
               fmt::format("there is no program {}: install Claude Code (npm install -g @anthropic-ai/claude-code) and "
                           "sign in by running it once, or say where it is with --program; without it: shepherd run -- "
                           "COMMAND, shepherd demo",
                           program));
}

}  // namespace shepherd
