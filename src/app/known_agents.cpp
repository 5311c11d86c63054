#include "app/known_agents.h"

#include <fmt/format.h>

#include "app/nearest_word.h"
#include "driver/registry.h"
#include "runner/remote_agent.h"

namespace shepherd {
namespace {

constexpr std::string_view kService = "grpc";  // an agent somewhere: it needs an address

std::unexpected<Error> wrong(std::string reason, std::string message) {
  return fail(ErrorCode::invalid_argument, std::move(reason), std::move(message));
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

}  // namespace shepherd
