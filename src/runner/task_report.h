// The JSON of a task's last two events: its result and its end.
// Threads: value.
#pragma once

#include <string>

#include "process/agent_end.h"
#include "runner/agent_run.h"
#include "runner/workspace.h"

namespace shepherd {

// The data and the summary of a `result` event: "2 commits, 3 files changed (+10 -4) on shepherd/task-1".
std::string work_data(const WorkResult& work, const std::string& directory, const std::string& pr_url);
std::string work_summary(const WorkResult& work);

// The members besides `state` of a terminal status. A run that was ended from outside lists all ended processes.
std::string end_members(const AgentOutcome& outcome, const std::string& pr_url);

}  // namespace shepherd
