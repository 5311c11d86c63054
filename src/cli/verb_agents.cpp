// shepherd agents: lists the agents that can run here, how each is driven, and what each can be asked for.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/known_agents.h"
#include "cli/verbs.h"
#include "config/config_flags.h"
#include "driver/registry/agent_table.h"
#include "driver/registry/known_agent.h"
#include "driver/registry/registry.h"
#include "json/write.h"
#include "terminal/terminal_text.h"
#include "terminal/text_table.h"

namespace shepherd {
namespace {

struct AgentsOptions {
  ConfigFlags flags;
  bool json = false;
};

// What is known of one agent on this machine.
struct AgentRow {
  std::string name, title, driver;
  std::string place;             // path of the program, or address; empty: not here
  std::string version;           // as the program says; empty: unknown
  std::string install;           // what to do when it is not here
  std::string capabilities;      // JSON, as a task's
  std::string abilities;         // JSON: what docs/agents.md says of its driver, by name
  std::vector<std::string> can;  // in words
};

// What the driver can ask of the agent as it is usually started.
void describe_abilities(Driver& driver, const AgentEntry& entry, AgentRow& row) {
  Launch launch;
  launch.id = launch.prompt = "look";
  launch.version = row.version;
  if (const ProgramAgent* program = entry.program()) {
    launch.program = program->command.front();
    if (program->command.size() > 1) launch.command = program->command;
  }
  launch.deltas = true;
  if (!driver.launch(launch)) return;
  AgentFacts facts{driver.capabilities(), driver.traits()};
  row.capabilities = encode_capabilities(facts.can);
  row.abilities = object_text([&](JsonObject& object) {
    for (const Ability& ability : abilities()) object.text(ability.name, ability.value(facts));
  });
  for (const Ability& ability : abilities()) {
    if (ability.value(facts) == "yes") row.can.emplace_back(ability.name);
  }
  if (facts.traits.use != ToldUse::none) row.can.emplace_back(name(facts.traits.use));
}

AgentRow row_of(const std::string& name, const AgentEntry& entry) {
  AgentRow row{name, name, entry.driver, "", "", "", "null", "null", {}};
  if (const KnownAgent* known = known_agent(name)) {
    row.title = known->title;
    row.install = known->install;
  }
  std::unique_ptr<Driver> driver = make_driver(entry.driver);
  if (const ProgramAgent* program = entry.program()) {
    row.place = find_program(program->command.front(), {});
    if (!row.place.empty()) row.version = version_of_program(*driver, row.place);
  } else {
    row.place = entry.remote()->address;
  }
  describe_abilities(*driver, entry, row);
  return row;
}

std::string json_of(const AgentRow& row) {
  return object_text([&](JsonObject& object) {
    object.text("name", row.name);
    object.text("title", row.title);
    object.text("driver", row.driver);
    object.flag("installed", !row.place.empty());
    object.text_unless_empty("place", row.place);
    object.text_unless_empty("version", row.version);
    if (row.place.empty()) object.text_unless_empty("install", row.install);
    object.json("capabilities", row.capabilities);
    object.json("abilities", row.abilities);
  });
}

void print(Output& out, const std::vector<AgentRow>& rows) {
  TextTable table({{"AGENT"}, {"DRIVER"}, {"VERSION"}, {"CAN"}});
  for (const AgentRow& row : rows) {
    if (row.place.empty()) continue;
    std::string can = fmt::format("{}", fmt::join(row.can, ", "));
    table.add({{terminal_text(row.name, Lines::join), Color::bold},
               {row.driver},
               {row.version.empty() ? "-" : terminal_text(row.version, Lines::join)},
               {can.empty() ? "-" : can}});
  }
  if (table.empty()) {
    out.line("No agent is installed here.");
  } else {
    table.print(out);
  }
  TextTable missing({{"NOT INSTALLED"}, {"HOW TO INSTALL"}});
  for (const AgentRow& row : rows) {
    if (row.place.empty()) {
      missing.add({{terminal_text(row.name, Lines::join)},
                   {row.install.empty() ? "correct its command in the configuration" : row.install}});
    }
  }
  if (missing.empty()) return;
  out.line("");
  missing.print(out);
}

Result<ExitCode> list(Context& context, const AgentsOptions& options) {
  Result<ConfigInputs> inputs = options.flags.inputs();
  if (!inputs) return fail(inputs.error());
  Result<LoadedConfig> loaded = load_config(*inputs, context.environment);
  if (!loaded) return fail(loaded.error());
  std::vector<AgentRow> rows;
  for (const std::string& name : agent_names(loaded->config)) {
    if (std::optional<AgentEntry> entry = agent_entry(loaded->config, name)) rows.push_back(row_of(name, *entry));
  }
  if (options.json) {
    for (const AgentRow& row : rows) context.out.json_line(json_of(row));
  } else {
    print(context.out, rows);
  }
  return ExitCode::ok;
}

}  // namespace

void add_agents_verb(CLI::App& app, Context& context) {
  auto options = std::make_shared<AgentsOptions>();
  CLI::App* command = app.add_subcommand("agents", "List the agents that can run on this machine");
  options->flags.add_to(*command);
  command->add_flag("--json", options->json, "Print one JSON object per agent");
  command->footer(
      "AGENT is the name for --agent and for a task's `agent`. CAN says what an operator can do beside watching and\n"
      "stopping it, and what it shows; money, tokens: what it tells of its use. docs/agents.md explains the words.\n"
      "Entries under `agents` in the configuration add agents and change the commands of known ones.\n\n"
      "Example:\n  shepherd agents --json");
  command->callback([options, &context] { context.action = [options, &context] { return list(context, *options); }; });
}

}  // namespace shepherd
