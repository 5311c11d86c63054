// The JSON of a task's last two events: what it leaves, and how it ended.
// Threads: value.
#pragma once

#include <string>

#include "process/agent_end.h"
#include "runner/agent_run.h"
#include "runner/workspace.h"

namespace shepherd {

// A `result` event's data and its summary: "2 commits, 3 files changed (+10 -4) on shepherd/task-1".
std::string work_data(const WorkResult& work, const std::string& directory, const std::string& pr_url);
std::string work_summary(const WorkResult& work);

// The members beside `state` of a terminal status. A run that was ended from outside lists every process that ended.
std::string end_members(const AgentOutcome& outcome, const std::string& pr_url);

}  // namespace shepherd
