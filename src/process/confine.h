// Carries out the steps of a confinement in the agent's first process, before it executes the agent's program.
//
// It uses kernel namespaces: its own processes (warden_init.h), its own mounts, and a user namespace if this user may
// not create the others without one. The privileges to create them are dropped at the end, so the agent cannot undo
// them. As root, the agent also loses the ways around them: raw disks, kernel settings, most capabilities.
// Threads: caller (a process with one thread).
#pragma once

#include <vector>

#include "base/result.h"
#include "process/confinement.h"

namespace shepherd {

// unavailable/cannot_confine with `errno` if the machine does not allow a step. The process is then unusable.
Result<void> confine(const std::vector<ConfineStep>& steps);

// Joins the mounts of another agent, which are open as kWardenMounts (warden.h), with a view of the own processes.
// Errors are those of confine().
Result<void> confine_beside();

// The same error for other code that prepares the confinement: "cannot WHAT: why".
std::unexpected<Error> cannot_confine(const std::string& what);

}  // namespace shepherd
