#include <string>

#include "base/clock.h"
#include "cli/doctor.h"
#include "config/agent_confinement.h"
#include "process/program_output.h"
#include "runner/limits.h"

namespace shepherd {

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
  SystemClock clock;
  Result<ProgramOutput> ran = run_program(spec, kVersionTimeout, clock);
  if (ran && ran->good()) {
    return {Finding::Level::ok, "confinement", "agents are confined at level " + level, ""};
  }
  bool wanted = config.confine_required;
  return {wanted ? Finding::Level::fail : Finding::Level::warn, "confinement",
          ran ? "a confined program fails: " + describe(ran->exit) : ran.error().message,
          wanted ? "agents do not start; allow user namespaces (docs/security.md), or set runners.confine to none"
                 : "agents run unconfined; allow user namespaces (docs/security.md)"};
}

}  // namespace shepherd
