#include "cli/known_agents.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "config/nearest_word.h"
#include "driver/registry/known_agent.h"
#include "process/program_output.h"
#include "runner/agent_version.h"
#include "runner/limits.h"
#include "runner/remote_agent.h"
#include "runner/task_run.h"

namespace shepherd {
namespace {

constexpr std::string_view kDefault = "claude";
constexpr std::string_view kService = "grpc";  // the driver of a remote agent, which needs an address
constexpr std::string_view kCommand = "text";  // the driver of any command

std::unexpected<Error> wrong(std::string reason, std::string message) {
  return fail(ErrorCode::invalid_argument, std::move(reason), std::move(message));
}

bool can_run(const std::string& path) {
  return access(path.c_str(), X_OK) == 0;
}

}  // namespace

std::string find_program(const std::string& program, const RunRequest& request) {
  if (program.starts_with('/')) return can_run(program) ? program : "";
  if (program.contains('/')) {
    std::string path = (request.directory.empty() ? "." : request.directory) + "/" + program;
    return can_run(path) ? path : "";
  }
  std::string path;
  for (const std::string& variable : agent_environment()) {
    if (variable.starts_with("PATH=")) path = variable.substr(5);
  }
  if (auto own = request.environment.find("PATH"); own != request.environment.end()) path = own->second;
  for (std::size_t at = 0; at < path.size();) {
    std::size_t end = std::min(path.find(':', at), path.size());
    std::string candidate = path.substr(at, end - at) + "/" + program;
    if (can_run(candidate)) return candidate;
    at = end + 1;
  }
  return {};
}

std::string version_of_program(const Driver& driver, const std::string& program) {
  AgentSpec question;
  question.command = driver.version_command(program);
  if (question.command.empty()) return {};
  question.environment = agent_environment();
  question.directory = "/";
  question.with_stdin = false;
  Result<ProgramOutput> answer = run_program(question, kVersionTimeout, SystemClock());
  return answer && answer->good() ? version_line(answer->out) : "";
}

std::optional<AgentEntry> agent_entry(const Config& config, const std::string& name) {
  if (auto found = config.agents.find(name); found != config.agents.end()) return found->second;
  const KnownAgent* known = known_agent(name);
  if (known == nullptr) return std::nullopt;
  ProgramAgent program{known->words(), {}};
  if (name == kDefault && !config.claude_program.empty()) program.command.front() = config.claude_program;
  return AgentEntry{std::string(known->driver), std::move(program)};
}

std::string session_keeper_of(const Config& config, const std::string& agent) {
  auto own = config.agents.find(agent);
  return std::string(session_keeper(own == config.agents.end() ? agent : own->second.driver));
}

std::vector<std::string> agent_names(const Config& config) {
  std::vector<std::string> names{std::string(kDefault)};
  for (const KnownAgent& agent : known_agents()) {
    if (agent.name != kDefault) names.emplace_back(agent.name);
  }
  for (const auto& [name, entry] : config.agents) {
    if (known_agent(name) == nullptr) names.push_back(name);
  }
  return names;
}

std::vector<std::string> runnable_agents(const Config& config) {
  std::vector<std::string> names;
  for (std::string& name : agent_names(config)) {
    std::optional<AgentEntry> entry = agent_entry(config, name);
    const ProgramAgent* program = entry ? entry->program() : nullptr;
    bool offered = name == kDefault || program == nullptr || config.agents.contains(name) ||
                   !find_program(program->command.front(), {}).empty();
    if (offered) names.push_back(std::move(name));
  }
  names.emplace_back(kCommand);
  return names;
}

Result<void> check_agent(const Config& config, const RunRequest& request) {
  if (!request.command.empty()) return {};
  std::optional<AgentEntry> entry = agent_entry(config, request.agent);
  bool service = request.agent == kService || (entry && entry->remote() != nullptr);
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
  if (entry || request.agent == kCommand) return {};
  std::vector<std::string> names = agent_names(config);
  names.emplace_back(kCommand);
  std::string near = nearest_word(request.agent, names);
  names.emplace_back("grpc (with --address)");
  return wrong("unknown_agent",
               fmt::format("there is no agent \"{}\"{}; known are {}", request.agent,
                           near.empty() ? "" : fmt::format(" (did you mean \"{}\"?)", near), fmt::join(names, ", ")));
}

Result<void> check_program(const Config& config, const RunRequest& request) {
  if (!request.command.empty()) return {};
  std::optional<AgentEntry> entry = agent_entry(config, request.agent);
  if (!entry || entry->program() == nullptr) return {};
  const std::string& program = request.program.empty() ? entry->program()->command.front() : request.program;
  if (!find_program(program, request).empty()) return {};
  if (!request.program.empty()) {
    return wrong("no_program", fmt::format("--program: there is no program {}", program));
  }
  const KnownAgent* known = known_agent(request.agent);
  if (known == nullptr || config.agents.contains(request.agent)) {
    return wrong("no_program", fmt::format("there is no program {}: correct agents.{}.command in the configuration, or "
                                           "say where it is with --program",
                                           program, request.agent));
  }
  return wrong("no_program",
               fmt::format("there is no program {}: install {} ({}) and sign in by running it once, or say where it is "
                           "with --program; without it: shepherd run -- COMMAND, shepherd demo",
                           program, known->title, known->install));
}

}  // namespace shepherd
