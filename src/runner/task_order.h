// A runner's task: the answer of GET …/{id}/data, or the arguments of `shepherd run`.
// Threads: value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/command.h"

namespace shepherd {

struct TaskOrder {
  std::string task;                  // its id
  std::string agent;                 // a driver's name
  std::vector<std::string> command;  // for agents that are any command
  std::string description, context, source_url;
  std::string repo_url, repo_ref;  // empty if it has no repository
  std::string model;
  AgentMode mode = AgentMode::interactive;
  std::int64_t max_turns = 0;  // 0 means no bound, here and below
  double budget_usd = 0;
  std::int64_t timeout_seconds = 0;
  std::vector<std::string> allowed_tools;
  std::string mcp_servers_json;  // empty for none
  std::string resume_session;    // the agent's own id of an earlier conversation
};

// Tolerant: missing or mistyped members keep their defaults. Fails if it is not an object with an id.
Result<TaskOrder> decode_task_order(std::string_view json);

}  // namespace shepherd
