// Keeps an agent from what its confinement hides where the machine allows no namespaces (landlock_plan.h): it cannot
// open, change or remove it, nor signal or look into any process but its own. It can still see that they are there.
// Threads: caller (a process with one thread).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "process/confinement.h"

namespace shepherd {

// In the agent's first process before it becomes the agent's program, which works in `directory`; holds for all that it
// starts. Errors are those of confine() and plan_landlock().
Result<void> confine_by_landlock(const std::vector<ConfineStep>& steps, const std::string& directory);

}  // namespace shepherd
