#include "driver/registry/agent_table.h"

#include <array>
#include <memory>
#include <vector>

#include "driver/registry/registry.h"

namespace shepherd {
namespace {

std::string_view yes_or_no(bool value) {
  return value ? "yes" : "no";
}

template <CommandKind kind>
std::string_view takes(const AgentFacts& facts) {
  return yes_or_no(facts.can.can(kind));
}

constexpr std::array kAbilities{
    Ability{"steer", "takes words in the middle of a turn", &takes<CommandKind::steer>},
    Ability{"queue", "takes words for its next turn", &takes<CommandKind::queue>},
    Ability{"interrupt", "can be interrupted or stand still, and go on", &takes<CommandKind::interrupt>},
    Ability{"set_mode", "changes its mode while it works", &takes<CommandKind::set_mode>},
    Ability{"approve", "asks before it uses a tool",
            [](const AgentFacts& facts) { return yes_or_no(facts.can.approvals); }},
    Ability{"questions", "asks its operator questions",
            [](const AgentFacts& facts) { return yes_or_no(facts.traits.questions); }},
    Ability{"resume", "goes on with an earlier session",
            [](const AgentFacts& facts) { return yes_or_no(facts.can.resumes_sessions); }},
    Ability{"live", "shows text while it is written",
            [](const AgentFacts& facts) { return yes_or_no(facts.can.deltas); }},
    Ability{"sub-agents", "shows the steps of its sub-agents as theirs",
            [](const AgentFacts& facts) { return yes_or_no(facts.traits.sub_agents); }},
    Ability{"modes", "interactive and autonomous", [](const AgentFacts& facts) { return name(facts.traits.modes); }},
    Ability{"model", "choice of the model", [](const AgentFacts& facts) { return name(facts.traits.model); }},
    Ability{"tools", "list of allowed tools", [](const AgentFacts& facts) { return name(facts.traits.allowed_tools); }},
    Ability{"mcp", "MCP servers of the task", [](const AgentFacts& facts) { return name(facts.traits.mcp_servers); }},
    Ability{"turns", "maximum of turns", [](const AgentFacts& facts) { return name(facts.traits.max_turns); }},
    Ability{"budget", "budget", [](const AgentFacts& facts) { return name(facts.traits.budget); }},
    Ability{"cost", "tells what it uses", [](const AgentFacts& facts) { return name(facts.traits.use); }},
};

struct AgentColumn {
  std::string_view driver, title;
};
constexpr std::array kColumns{
    AgentColumn{"claude", "Claude Code"},
    AgentColumn{"codex", "Codex"},
    AgentColumn{"opencode", "OpenCode"},
    AgentColumn{"acp", "ACP"},
    AgentColumn{"grpc", "streaming"},
    AgentColumn{"gemini-stream", "Gemini, one way"},
    AgentColumn{"opencode-run", "OpenCode, one way"},
    AgentColumn{"text", "any command"},
};

}  // namespace

AgentFacts facts_of(Driver& driver) {
  Launch launch;
  launch.id = launch.prompt = launch.program = "look";
  launch.command = {"look"};
  launch.deltas = true;
  if (!driver.launch(launch)) return {};
  return {driver.capabilities(), driver.traits()};
}

std::span<const Ability> abilities() {
  return kAbilities;
}

std::string abilities_table() {
  std::string table = "| |";
  std::string line = "| --- |";
  std::vector<AgentFacts> facts;
  for (const AgentColumn& column : kColumns) {
    table.append(" ").append(column.title).append(" |");
    line.append(" --- |");
    facts.push_back(facts_of(*make_driver(column.driver)));
  }
  table.append("\n").append(line).append("\n");
  for (const Ability& ability : kAbilities) {
    table.append("| **").append(ability.name).append("**: ").append(ability.about).append(" |");
    for (const AgentFacts& each : facts) {
      std::string_view value = ability.value(each);
      bool lacks = value == "no" || value == "none";
      table.append(" ").append(lacks ? "–" : value).append(" |");
    }
    table.append("\n");
  }
  return table;
}

}  // namespace shepherd
