#include "runner/open_link.h"

#include <filesystem>
#include <utility>

#include "process/agent_process.h"
#include "runner/grpc_link.h"
#include "runner/http_link.h"

namespace shepherd {
namespace {

// The program may need files beside it, and it may be in a temporary directory, which level workspace hides.
void allow_program(const std::string& command, Confinement& confinement) {
  std::error_code error;
  std::filesystem::path program = std::filesystem::canonical(command, error);
  if (error) return;
  confinement.readable.push_back(program.string());
  confinement.readable.push_back(program.parent_path().string());
  confinement.readable.push_back(std::filesystem::path(command).parent_path().string());
}

void allow_state(const std::vector<std::string>& paths, Confinement& confinement) {
  for (const std::string& path : paths) {
    std::error_code error;
    // The confined agent could not create it.
    if (confinement.level == ConfineLevel::workspace) std::filesystem::create_directories(path, error);
    confinement.writable.push_back(path);
  }
}

// Not confined by a plan of its own, in which other paths would count: neither the command's nor its directory's.
Result<AgentSpec> spec_beside(AgentSpec spec, const AgentProcess& process) {
  Result<std::shared_ptr<const SharedConfinement>> shared = process.share_confinement();
  if (!shared) return fail(std::move(shared.error()));
  spec.command.clear();
  spec.with_stdin = false;
  spec.beside = *std::move(shared);
  return spec;
}

struct Opener {
  const LinkRequest& request;
  AgentObserver& observer;
  const Clock& clock;

  AgentSpec spec_of(const ProgramLaunch& program) const {
    AgentSpec spec;
    spec.command = program.argv;
    spec.environment = request.settings.environment;
    spec.directory = request.settings.directory;
    spec.with_stdin = request.plan.keep_input_open || !request.plan.input.empty();
    spec.warden_program = request.settings.warden_program;
    spec.confinement = request.settings.confinement;
    allow_program(spec.command.front(), spec.confinement);
    allow_state(request.state_paths, spec.confinement);
    return spec;
  }

  static void tell_confined(const AgentProcess& process, OpenedLink& opened) {
    opened.confined = process.confined();
    if (const std::string& why = process.why_not_better(); !why.empty()) {
      opened.remark = process.confined_by() == ConfineMeans::landlock
                          ? "The agent is confined by Landlock and not by namespaces (docs/security.md says what that "
                            "costs it): " +
                                why
                          : "The agent runs unconfined, because this machine cannot confine it: " + why;
    }
  }

  Result<OpenedLink> operator()(const ProgramLaunch& program) const {
    AgentSpec spec = spec_of(program);
    Result<std::unique_ptr<AgentProcess>> process = AgentProcess::start(spec, observer, clock);
    if (!process) return fail(std::move(process.error()));
    OpenedLink opened;
    tell_confined(**process, opened);
    opened.beside = spec_beside(std::move(spec), **process);
    opened.link = *std::move(process);
    return opened;
  }

  Result<OpenedLink> operator()(const GrpcLaunch& service) const {
    if (!request.settings.remote) {
      return fail(ErrorCode::invalid_argument, "no_address",
                  "the agent \"" + request.agent +
                      "\" is a service; say where it is, with --address or under \"agents\" "
                      "in the configuration");
    }
    Result<GrpcTarget> target = grpc_target(*request.settings.remote, service.method);
    if (!target) return fail(std::move(target.error()));
    OpenedLink opened;
    opened.link = std::make_unique<GrpcLink>(*std::move(target), observer, clock);
    return opened;
  }

  Result<OpenedLink> operator()(const HttpLaunch& service) const {
    Result<std::unique_ptr<HttpLink>> link = HttpLink::start(spec_of(service.program), service, observer, clock);
    if (!link) return fail(std::move(link.error()));
    OpenedLink opened;
    tell_confined((*link)->process(), opened);
    opened.link = *std::move(link);
    return opened;
  }
};

}  // namespace

std::vector<std::string> program_environment(const AgentSettings& settings, const ProgramLaunch& program) {
  std::vector<std::string> environment = settings.environment;
  for (const EnvironmentEntry& entry : program.environment) environment.push_back(entry.name + "=" + entry.value);
  if (settings.confinement.level == ConfineLevel::workspace) environment.emplace_back("TMPDIR=/tmp");
  return environment;
}

Result<OpenedLink> open_link(const LinkRequest& request, AgentObserver& observer, const Clock& clock) {
  return std::visit(Opener{request, observer, clock}, request.plan.way);
}

}  // namespace shepherd
