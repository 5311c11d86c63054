// What a runner was asked to do: the answer of GET …/{id}/data, or what `shepherd run` was given.
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
  std::string repo_url, repo_ref;  // empty: no repository of its own
  std::string model;
  AgentMode mode = AgentMode::interactive;
  std::int64_t max_turns = 0;  // 0: no bound, here and below
  double budget_usd = 0;
  std::int64_t timeout_seconds = 0;
  std::vector<std::string> allowed_tools;
  std::string mcp_servers_json;  // empty: none
  std::string resume_session;    // the agent's own id of an earlier conversation
};

// Tolerant: members that are missing or of another type keep their defaults. Fails when it is no object with an id.
Result<TaskOrder> decode_task_order(std::string_view json);

}  // namespace shepherd
