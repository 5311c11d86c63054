#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "cli/doctor.h"
#include "config/agent_confinement.h"
#include "process/agent_process.h"
#include "runner/limits.h"

namespace shepherd {
namespace {

// Only the program's end matters.
class UnheardProgram final : public AgentObserver {
 public:
  void on_output(AgentStream, std::string_view) override {}
  void on_end(const AgentEnd&) override {}
};

std::string means_text(const AgentProcess& process) {
  if (process.confined_by() != ConfineMeans::landlock) return "by namespaces";
  return "by Landlock, because there are no namespaces: " + process.why_not_better();
}

// How an agent would be confined; an error when it cannot be.
Result<std::string> try_confinement(const AgentSpec& spec) {
  SystemClock clock;
  UnheardProgram observer;
  Result<std::unique_ptr<AgentProcess>> process = AgentProcess::start(spec, observer, clock);
  if (!process) return fail(std::move(process.error()));
  std::optional<AgentEnd> end = (*process)->wait(kVersionTimeout);
  if (!end) (*process)->kill();
  if (end && end->exit.code == 0 && end->exit.signal == 0) return means_text(**process);
  return fail(ErrorCode::unavailable, "confined_program_failed",
              end ? "a confined program fails: " + describe(end->exit) : "a confined program does not end");
}

}  // namespace

Finding examine_confinement(const Config& config, const Environment& environment) {
  AgentSpec spec;
  spec.command = {"/bin/true"};
  spec.directory = "/";
  spec.with_stdin = false;
  spec.confinement = agent_confinement(config, environment);
  if (spec.confinement.level == ConfineLevel::none) {
    return {Finding::Level::warn, "confinement", "agents are not confined, as runners.confine says",
            "leave that setting out, or read docs/security.md for what it means"};
  }
  std::string level(name(spec.confinement.level));
  spec.confinement.required = true;
  Result<std::string> means = try_confinement(spec);
  if (means) return {Finding::Level::ok, "confinement", "agents are confined at level " + level + ", " + *means, ""};
  bool wanted = config.confine_required;
  return {wanted ? Finding::Level::fail : Finding::Level::warn, "confinement", means.error().message,
          wanted ? "agents do not start; allow user namespaces (docs/security.md), or set runners.confine to none"
                 : "agents run unconfined; allow user namespaces (docs/security.md)"};
}

}  // namespace shepherd
