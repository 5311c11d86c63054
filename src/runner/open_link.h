// Makes the link to an agent from its launch plan: the one place that knows which link belongs to which way of
// launching.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "driver/driver.h"
#include "process/agent_link.h"
#include "process/confinement.h"
#include "process/launch_warden.h"
#include "runner/agent_settings.h"

namespace shepherd {

struct LinkRequest {
  std::string agent;  // its name, for messages
  LaunchPlan plan;
  AgentSettings settings;                // a program's environment is whole
  std::vector<std::string> state_paths;  // where its program keeps what is its own
};

struct OpenedLink {
  std::unique_ptr<AgentLink> link;
  ConfineLevel confined = ConfineLevel::none;
  std::string remark;  // for the log; empty for none
  // How a command is started beside a program, without the command: it has the program's environment, directory and
  // confinement.
  Result<AgentSpec> beside = fail(ErrorCode::unavailable, "not_supported", "nothing can be started beside this agent.");
};

// Blocks until a program runs, which a slow disk or a slow machine can delay; a service is connected later. `observer`
// and `clock` must outlive the link. invalid_argument/no_address; or why the program cannot be started.
// Threads: any.
Result<OpenedLink> open_link(const LinkRequest& request, AgentObserver& observer, const Clock& clock);

// The environment that a program of this plan gets. Threads: any.
std::vector<std::string> program_environment(const AgentSettings& settings, const ProgramLaunch& program);

}  // namespace shepherd
