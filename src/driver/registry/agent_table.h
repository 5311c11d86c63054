// What agents can do, by driver, as one table: docs/agents.md has it, and `shepherd agents` prints from it.
// Threads: any.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "driver/driver.h"

namespace shepherd {

// What a driver says of its agents, started in its usual way and before their first words.
struct AgentFacts {
  Capabilities can;
  AgentTraits traits;
};
AgentFacts facts_of(Driver& driver);

struct Ability {
  std::string_view name;   // one word, for lists
  std::string_view about;  // for the table
  std::string_view (*value)(const AgentFacts& facts);
};
// In the order of the table. Their values: yes, no; own, runner, none; money, tokens, none.
std::span<const Ability> abilities();

// The table as Markdown: a row for each ability, a column for each driver.
std::string abilities_table();

}  // namespace shepherd
