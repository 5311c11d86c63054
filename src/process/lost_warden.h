// The end of an agent whose warden is gone: killed, or stuck and then killed. Threads: any.
#pragma once

#include <chrono>

#include "base/clock.h"
#include "process/agent_end.h"
#include "process/launch_warden.h"

namespace shepherd {

// Call it after the warden was released. Its death has killed the agent's first process and made the rest our children;
// this ends all of them, and takes at most about `wait`.
AgentEnd end_orphans(const LaunchedAgent& launched, std::chrono::milliseconds wait, const Clock& clock);

}  // namespace shepherd
