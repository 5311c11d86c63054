// Takes the steps of a confinement, in the agent's first process before it becomes the agent's program.
//
// Namespaces of the kernel do it: processes of their own (warden_init.h), mounts of their own, and a user namespace
// where this user may not have the others without. What they are made with is given away at the end, so there is no
// way back. As root, the agent also loses what would lead around them: raw disks, kernel settings, most capabilities.
// Threads: caller (a process with one thread).
#pragma once

#include <vector>

#include "base/result.h"
#include "process/confinement.h"

namespace shepherd {

// unavailable/cannot_confine with `errno` when the machine does not allow a step. The process is of no use then.
Result<void> confine(const std::vector<ConfineStep>& steps);

// The same error for other code that prepares a confinement: "cannot WHAT: why".
std::unexpected<Error> cannot_confine(const std::string& what);

}  // namespace shepherd
