#include "driver/registry/agent_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "driver/registry/registry.h"

namespace shepherd {
namespace {

constexpr std::string_view kBegin = "<!-- abilities: written by driver_registry_test -->\n";
constexpr std::string_view kEnd = "<!-- end of abilities -->\n";

std::string page_text(const std::filesystem::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// SHEPHERD_UPDATE_GOLDEN=1 writes the table instead.
TEST(AgentTable, DocsAgentsHasIt) {
  std::filesystem::path path = std::filesystem::path(SHEPHERD_DOCS_DIR) / "agents.md";
  std::string page = page_text(path);
  std::size_t begin = page.find(kBegin), end = page.find(kEnd);
  ASSERT_TRUE(begin != std::string::npos && end != std::string::npos && begin < end) << path << " has no place for it";
  begin += kBegin.size();
  const char* asked = std::getenv("SHEPHERD_UPDATE_GOLDEN");
  if (asked != nullptr && std::string_view(asked) == "1") {
    std::ofstream(path) << page.replace(begin, end - begin, abilities_table());
    return;
  }
  EXPECT_EQ(page.substr(begin, end - begin), abilities_table())
      << "run driver_registry_test with SHEPHERD_UPDATE_GOLDEN=1 to write it";
}

TEST(AgentTable, HasAColumnForEachDriver) {
  std::string table = abilities_table();
  std::string_view head = std::string_view(table).substr(0, table.find('\n'));
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(head, '|')), driver_names().size() + 2);
}

TEST(AgentTable, EveryDriverTellsWhatItIsAskedFor) {
  for (std::string_view name : driver_names()) {
    AgentFacts facts = facts_of(*make_driver(name));
    EXPECT_TRUE(facts.can.can(CommandKind::stop)) << name << " could not be started for a look";
    bool tells = facts.traits.use != ToldUse::none;
    EXPECT_TRUE(tells || facts.traits.budget != Means::runner) << name << ": the runner cannot keep a budget";
  }
}

}  // namespace
}  // namespace shepherd
