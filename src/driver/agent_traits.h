// What a driver knows of its kind of agent before one is started, beside the commands that it takes (Capabilities).
// The table of docs/agents.md and `shepherd agents` are made from it.
// Threads: value.
#pragma once

#include <cstdint>
#include <string_view>

namespace shepherd {

// By whose means an agent does what a task asks for.
enum class Means : std::uint8_t {
  none,    // it does not
  runner,  // the runner sees to it, the agent has no means of its own
  own,     // the agent does
};
std::string_view name(Means means);

// What an agent tells of its use of models.
enum class ToldUse : std::uint8_t { none, tokens, money };
std::string_view name(ToldUse use);

struct AgentTraits {
  Means model = Means::none;          // a model of the task's choice
  Means modes = Means::none;          // interactive and autonomous
  Means allowed_tools = Means::none;  // the task's list
  Means mcp_servers = Means::none;    // the task's
  Means max_turns = Means::runner;
  Means budget = Means::none;  // runner: it is kept as far as its cost is known
  ToldUse use = ToldUse::none;
  bool questions = false;   // asks its operator more than permission
  bool sub_agents = false;  // the log shows the steps of its sub-agents as theirs
};

}  // namespace shepherd
