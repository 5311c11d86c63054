#include "driver/registry/registry.h"

#include <gtest/gtest.h>

#include "driver/registry/known_agent.h"

namespace shepherd {
namespace {

TEST(Registry, KnowsItsDrivers) {
  for (std::string_view name : driver_names()) {
    auto driver = make_driver(name);
    ASSERT_NE(driver, nullptr);
    EXPECT_EQ(driver->name(), name);
  }
  EXPECT_EQ(make_driver("nobody"), nullptr);
}

TEST(KnownAgents, HaveADriverAndACommand) {
  for (const KnownAgent& agent : known_agents()) {
    EXPECT_NE(make_driver(agent.driver), nullptr) << agent.name;
    EXPECT_FALSE(agent.words().empty()) << agent.name;
    EXPECT_EQ(known_agent(agent.name), &agent) << agent.name;
  }
  EXPECT_EQ(known_agent("nobody"), nullptr);
}

TEST(KnownAgents, CommandsAreSplitAtBlanks) {
  KnownAgent agent{"a", "A", "text", "goose acp --with-builtin developer", "", ""};
  EXPECT_EQ(agent.words(), (std::vector<std::string>{"goose", "acp", "--with-builtin", "developer"}));
}

TEST(KnownAgents, ShareTheSessionsOfTheirProgram) {
  EXPECT_EQ(session_keeper("claude-acp"), session_keeper("claude"));
  EXPECT_EQ(session_keeper("opencode-run"), session_keeper("opencode"));
  EXPECT_NE(session_keeper("codex"), session_keeper("claude"));
  EXPECT_EQ(session_keeper("my-own"), "");
  for (const KnownAgent& agent : known_agents()) EXPECT_FALSE(agent.keeper.empty()) << agent.name;
}

TEST(Registry, NamesEveryAgentThatHasAFolder) {
  EXPECT_EQ(driver_names(), (std::vector<std::string_view>{"acp", "claude", "codex", "gemini-stream", "grpc",
                                                           "opencode", "opencode-run", "text"}));
}

}  // namespace
}  // namespace shepherd
