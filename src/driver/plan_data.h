// An agent's own list of what it has to do, as the data of a status event: one shape for every agent.
// Threads: value.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shepherd {

struct PlanStep {
  std::string content;
  std::string status;  // "pending", "in_progress" or "completed", whatever the agent writes for it
};

// The status of an agent's word for it: "inProgress" is "in_progress".
std::string plan_status(std::string_view word);

// "Plan: 1 of 3 done; now: Write the test".
std::string plan_summary(const std::vector<PlanStep>& steps);

// The members of the event's data: "event":"progress","details":{"plan":[{"content","status","state"}]}. Steps that
// find no room in an event are left out.
std::string plan_members(const std::vector<PlanStep>& steps);

}  // namespace shepherd
