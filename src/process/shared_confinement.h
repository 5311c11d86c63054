// The confinement of an agent that runs, for programs beside it that must see exactly what it sees.
//
// It is joined and never planned again: the agent may have renamed directories since its start, and a second plan from
// the same paths would then hide other ones.
// Threads: value.
#pragma once

#include <memory>
#include <vector>

#include "base/descriptor.h"
#include "base/result.h"
#include "process/confinement.h"

namespace shepherd {

struct LaunchedAgent;

struct SharedConfinement {
  ConfineLevel level = ConfineLevel::none;
  ConfineMeans means = ConfineMeans::none;
  std::vector<ConfineStep> steps;  // of Landlock, as they were planned for the agent
  Descriptor mounts, users;        // its namespaces; no `users` if it has the runner's
};

// Call it while the agent runs. unavailable/cannot_confine if it has ended.
Result<std::shared_ptr<const SharedConfinement>> share_confinement(const LaunchedAgent& agent);

}  // namespace shepherd
