#include "driver/opencode/settings.h"

#include <gtest/gtest.h>

#include "driver/opencode/opencode_run.h"
#include "driver/opencode/opencode_server.h"

namespace shepherd {
namespace {

Launch opencode_task(AgentMode mode) {
  Launch launch;
  launch.prompt = "Fix it";
  launch.mode = mode;
  return launch;
}

TEST(OpenCodeSettings, ArgumentsOfTheConfigurationComeBeforeItsOwn) {
  Launch launch = opencode_task(AgentMode::autonomous);
  launch.program = "npx";
  launch.command = {"npx", "opencode-ai"};
  auto run = OpenCodeRun().launch(launch), served = OpenCodeServer().launch(launch);
  ASSERT_TRUE(run && served);
  std::vector<std::string> words = run->program()->argv;
  words.resize(3);
  EXPECT_EQ(words, (std::vector<std::string>{"npx", "opencode-ai", "run"}));
  EXPECT_EQ(served->program()->argv,
            (std::vector<std::string>{"npx", "opencode-ai", "serve", "--hostname", "127.0.0.1", "--port", "0"}));
}

TEST(OpenCodeSettings, AloneItsOwnConfigurationDecides) {
  EXPECT_EQ(opencode_configuration(opencode_task(AgentMode::autonomous)), "{}");
}

TEST(OpenCodeSettings, WithAnOperatorItAsksBeforeItChangesAnything) {
  EXPECT_EQ(opencode_configuration(opencode_task(AgentMode::interactive)),
            R"({"permission":{"edit":"ask","bash":"ask","webfetch":"ask","websearch":"ask","task":"ask"}})");
}

TEST(OpenCodeSettings, OfAListNothingElseIsAllowed) {
  Launch launch = opencode_task(AgentMode::autonomous);
  launch.allowed_tools = {"read", "bash(git *)", "bash(make)"};
  EXPECT_EQ(opencode_configuration(launch), R"({"permission":{"*":"deny","bash":{"*":"deny","git *":"allow",)"
                                            R"("make":"allow"},"read":"allow"}})");
}

TEST(OpenCodeSettings, ServersOfTheTaskAreItsServers) {
  Launch launch = opencode_task(AgentMode::autonomous);
  launch.mcp_servers_json =
      R"({"mcpServers":{"a":{"command":"x","args":["y z"],"env":{"K":"v"}},"b":{"url":"http://h/","headers":{"H":"1"}}}})";
  EXPECT_EQ(opencode_configuration(launch),
            R"({"mcp":{"a":{"type":"local","enabled":true,"command":["x","y z"],"environment":{"K":"v"}},)"
            R"("b":{"type":"remote","enabled":true,"url":"http://h/","headers":{"H":"1"}}}})");
  launch.mcp_servers_json = R"({"a":{}})";
  EXPECT_FALSE(opencode_configuration(launch));
}

TEST(OpenCodeSettings, WhatWouldReadAsAnOptionIsRefused) {
  Launch launch = opencode_task(AgentMode::autonomous);
  launch.model = "--auto";
  EXPECT_FALSE(OpenCodeRun().launch(launch));
  launch.model.clear();
  launch.prompt.clear();
  EXPECT_FALSE(OpenCodeRun().launch(launch)) << "there is nothing to do";
  EXPECT_FALSE(OpenCodeServer().launch(launch));
}

TEST(OpenCodeSettings, ARunIsStartedWithItsPromptOnItsInput) {
  Launch launch = opencode_task(AgentMode::autonomous);
  launch.rules = "Be brief.";
  launch.resume_session = "ses_1";
  auto plan = OpenCodeRun().launch(launch);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->program()->argv, (std::vector<std::string>{"opencode", "run", "--format", "json", "--thinking",
                                                             "--session", "ses_1", "--auto"}));
  EXPECT_EQ(plan->input, "Rules:\n\nBe brief.\n\nTask:\n\nFix it");
  EXPECT_TRUE(plan->remark.empty());
  EXPECT_FALSE(OpenCodeRun().launch(opencode_task(AgentMode::interactive))->remark.empty());
}

TEST(OpenCodeSettings, AServiceTakesUpASessionAgain) {
  Launch launch = opencode_task(AgentMode::interactive);
  launch.resume_session = "ses_1";
  auto plan = OpenCodeServer().launch(launch);
  ASSERT_TRUE(plan);
  ASSERT_NE(plan->program(), nullptr) << "the runner starts it";
  EXPECT_EQ(plan->program()->argv.at(1), "serve");
  EXPECT_EQ(plan->input, "{\"id\":\"1\",\"method\":\"GET\",\"path\":\"/session/ses_1\"}\n");
}

}  // namespace
}  // namespace shepherd
