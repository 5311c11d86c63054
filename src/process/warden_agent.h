// The warden's fork, which becomes the agent. Threads: caller (a process with one thread).
#pragma once

#include <sys/types.h>

#include "base/result.h"
#include "process/warden_wire.h"

namespace shepherd {

// Starts the agent in its own session and group, with the descriptors of warden.h as its standard streams and nothing
// else open. The program is looked up in the PATH of the agent's environment. For confinement by namespaces, the caller
// must already be in a PID namespace (warden_init.h). not_found/cannot_start or internal/cannot_start with `errno` if
// it cannot be run, or the error of confine().
Result<pid_t> start_agent(const WardenStart& start);

}  // namespace shepherd
