#include <gtest/gtest.h>

#include "driver/test_recording.h"
#include "model/json_scan.h"

namespace shepherd {
namespace {

using Words = std::vector<std::string>;

TEST(ClaudeLaunch, BidirectionalByDefault) {
  ClaudeCode driver;
  Launch launch = launch_as(OutputFormat::bidirectional);
  launch.context = "It is \"small\".";
  auto plan = driver.launch(launch);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->argv, (Words{"claude", "-p", "--input-format", "stream-json", "--output-format", "stream-json",
                               "--verbose", "--replay-user-messages", "--permission-prompt-tool", "stdio"}));
  EXPECT_TRUE(plan->keep_input_open);
  EXPECT_EQ(plan->standard_input,
            R"({"type":"user","message":{"role":"user","content":"Do it\n\nContext:\n\nIt is \"small\"."},)"
            R"("parent_tool_use_id":null,"session_id":"","uuid":")" +
                message_uuid("launch", "prompt") + "\"}\n");
  EXPECT_TRUE(driver.capabilities().can(CommandKind::steer));
  EXPECT_TRUE(driver.capabilities().approvals);
}

TEST(ClaudeLaunch, EverythingATaskCanSay) {
  ClaudeCode driver;
  Launch launch = launch_as(OutputFormat::stream);
  launch.program = "/opt/claude";
  launch.version = "2.1.325 (Claude Code)";
  launch.model = "claude-opus-5-5";
  launch.max_turns = 20;
  launch.budget_usd = 2.5;
  launch.allowed_tools = {"Bash(git log:*)", "Read"};
  launch.mcp_servers_json = R"({"demo":{"command":"node"}})";
  launch.resume_session = "aaaaaaaa-0000-4000-8000-000000000001";
  launch.deltas = true;
  auto plan = driver.launch(launch);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->argv, (Words{"/opt/claude",
                               "-p",
                               "--output-format",
                               "stream-json",
                               "--verbose",
                               "--include-partial-messages",
                               "--forward-subagent-text",
                               "--allowedTools",
                               "Bash(git log:*),Read",
                               "--model",
                               "claude-opus-5-5",
                               "--max-turns",
                               "20",
                               "--max-budget-usd",
                               "2.5",
                               "--strict-mcp-config",
                               "--mcp-config",
                               R"({"mcpServers":{"demo":{"command":"node"}}})",
                               "--resume",
                               "aaaaaaaa-0000-4000-8000-000000000001"}));
  EXPECT_EQ(plan->standard_input, "Do it");
  EXPECT_FALSE(plan->keep_input_open);
}

TEST(ClaudeLaunch, WorkingAloneWithoutAnybodyToAsk) {
  ClaudeCode driver;
  Launch launch = launch_as(OutputFormat::batch);
  launch.mode = AgentMode::autonomous;
  launch.mcp_servers_json = R"({"mcpServers":{"demo":{},"other":{}}})";
  auto plan = driver.launch(launch);
  ASSERT_TRUE(plan);
  auto at = std::find(plan->argv.begin(), plan->argv.end(), "--allowedTools");
  ASSERT_NE(at, plan->argv.end());
  EXPECT_TRUE((at + 1)->starts_with("Bash,Read,")) << *(at + 1);
  EXPECT_TRUE((at + 1)->ends_with(",mcp__demo,mcp__other")) << *(at + 1);
}

TEST(ClaudeLaunch, ValuesThatWouldReadAsOptionsAreRefused) {
  auto refused = [](auto change) {
    ClaudeCode driver;
    Launch launch = launch_as(OutputFormat::stream);
    change(launch);
    return !driver.launch(launch).has_value();
  };
  EXPECT_TRUE(refused([](Launch& l) { l.model = "--dangerously-skip-permissions"; }));
  EXPECT_TRUE(refused([](Launch& l) { l.resume_session = "-x"; }));
  EXPECT_TRUE(refused([](Launch& l) { l.allowed_tools = {"Read", "--x"}; }));
  EXPECT_TRUE(refused([](Launch& l) { l.mcp_servers_json = "[]"; }));
  EXPECT_TRUE(refused([](Launch& l) { l.prompt.clear(); }));
  EXPECT_FALSE(refused([](Launch& l) { l.prompt = "--help"; }));
}

TEST(ClaudeLaunch, AnAgentThatKnowsLessIsStartedAgainWithLess) {
  Recording recording = read_recording(claude_golden() / "recordings" / "claude-40-no-verbose.txt");
  recording.format = OutputFormat::stream;
  EXPECT_EQ(translate(recording, "").verdict.retry_with, OutputFormat::batch);
  recording.errors = "error: unknown option '--replay-user-messages'\n";
  recording.format = OutputFormat::bidirectional;
  EXPECT_EQ(translate(recording, "").verdict.retry_with, OutputFormat::stream);
  recording.errors = "something else\n";
  auto verdict = translate(recording, "").verdict;
  EXPECT_EQ(verdict.retry_with, std::nullopt);
  EXPECT_EQ(verdict.state, State::failed);
  EXPECT_EQ(verdict.message, "something else");
}

TEST(ClaudeLaunch, FormatNames) {
  for (auto format : {OutputFormat::bidirectional, OutputFormat::stream, OutputFormat::batch, OutputFormat::text}) {
    EXPECT_EQ(output_format(name(format)), format);
  }
  EXPECT_EQ(output_format("stream-json"), OutputFormat::bidirectional);
  EXPECT_EQ(output_format("xml"), std::nullopt);
}

}  // namespace
}  // namespace shepherd
