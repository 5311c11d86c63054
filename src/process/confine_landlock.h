// Keeps an agent from hidden paths on machines without namespaces (landlock_plan.h): it can neither open, change nor
// remove them, nor signal or inspect any process but its own. It can still see that they exist.
// Threads: caller (a process with one thread).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "process/confinement.h"

namespace shepherd {

// Call in the agent's first process before it executes the agent's program, which works in `directory`; applies to all
// its children. Errors are those of confine() and plan_landlock().
Result<void> confine_by_landlock(const std::vector<ConfineStep>& steps, const std::string& directory);

}  // namespace shepherd
