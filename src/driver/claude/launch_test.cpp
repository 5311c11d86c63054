#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>

#include "driver/claude/test_recording.h"
#include "json/scan.h"

namespace shepherd {
namespace {

using Words = std::vector<std::string>;

// By the options that the program gets.
OutputFormat format_of(const LaunchPlan& plan) {
  const Words& argv = plan.program()->argv;
  auto has = [&](std::string_view word) { return std::ranges::find(argv, word) != argv.end(); };
  if (has("--input-format")) return OutputFormat::bidirectional;
  return has("stream-json") ? OutputFormat::stream : has("json") ? OutputFormat::batch : OutputFormat::text;
}

TEST(ClaudeLaunch, BidirectionalByDefault) {
  ClaudeCode driver;
  Launch launch = launch_as(OutputFormat::bidirectional);
  launch.context = "It is \"small\".";
  auto plan = driver.launch(launch);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->program()->argv,
            (Words{"claude", "-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose",
                   "--replay-user-messages", "--permission-prompt-tool", "stdio", "--forward-subagent-text"}));
  EXPECT_TRUE(plan->keep_input_open);
  EXPECT_EQ(plan->input,
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
  EXPECT_EQ(plan->program()->argv, (Words{"/opt/claude",
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
  EXPECT_EQ(plan->input, "Do it");
  EXPECT_FALSE(plan->keep_input_open);
}

TEST(ClaudeLaunch, OnlyWhatTheInstalledVersionHas) {
  auto started = [](std::string version, OutputFormat asked = OutputFormat::bidirectional) {
    ClaudeCode driver;
    Launch launch = launch_as(asked);
    launch.version = std::move(version);
    launch.deltas = true;
    launch.budget_usd = 1;
    return *driver.launch(launch);
  };
  auto has = [&](std::string version, std::string_view option) {
    auto argv = started(std::move(version)).program()->argv;
    return std::ranges::find(argv, option) != argv.end();
  };
  EXPECT_EQ(format_of(started("0.2.65")), OutputFormat::batch);
  EXPECT_EQ(format_of(started("0.2.66 (Claude Code)")), OutputFormat::stream);
  EXPECT_EQ(format_of(started("1.0.85")), OutputFormat::stream);
  EXPECT_EQ(format_of(started("1.0.86")), OutputFormat::bidirectional);
  EXPECT_EQ(format_of(started("1.0.86", OutputFormat::text)), OutputFormat::text) << "never more than was asked for";
  EXPECT_EQ(format_of(started("0.2.65", OutputFormat::text)), OutputFormat::text);
  EXPECT_FALSE(started("1.0.85").keep_input_open);
  EXPECT_FALSE(has("1.0.108", "--include-partial-messages"));
  EXPECT_TRUE(has("1.0.109", "--include-partial-messages"));
  EXPECT_FALSE(has("2.0.27", "--max-budget-usd"));
  EXPECT_TRUE(has("2.0.28", "--max-budget-usd"));
  EXPECT_FALSE(has("2.1.197 (Claude Code)", "--forward-subagent-text"));
  EXPECT_TRUE(has("2.1.211 (Claude Code)", "--forward-subagent-text"));
  for (const char* unreadable : {"", "unknown", "2.1", "v2"}) {
    EXPECT_TRUE(has(unreadable, "--forward-subagent-text")) << "taken for the newest: " << unreadable;
    EXPECT_EQ(format_of(started(unreadable)), OutputFormat::bidirectional);
  }
}

TEST(ClaudeLaunch, RulesAreTold) {
  ClaudeCode driver;
  Launch launch = launch_as(OutputFormat::stream);
  launch.rules = "- Do not push.";
  auto argv = driver.launch(launch)->program()->argv;
  auto at = std::ranges::find(argv, "--append-system-prompt");
  ASSERT_NE(at, argv.end());
  EXPECT_EQ(*(at + 1), "# Rules\n\n- Do not push.") << "not to be read as an option";
}

TEST(ClaudeLaunch, AnOptionToDoWithoutIsTriedWithout) {
  ClaudeRecording recording = claude_recording("claude-40-no-verbose.txt");
  recording.format = OutputFormat::bidirectional;
  recording.errors = "error: unknown option '--forward-subagent-text'\n";
  auto verdict = translate(recording, "").verdict;
  ASSERT_TRUE(verdict.retry);
  EXPECT_EQ(verdict.retry->options.at("output_format"), "stream-json");
  EXPECT_EQ(verdict.retry->options.at("without"), "--forward-subagent-text");
  EXPECT_EQ(verdict.retry->why, "The agent program does not know --forward-subagent-text; starting it again without");
  ClaudeCode driver;
  Launch launch = launch_as(OutputFormat::stream);
  launch.options = verdict.retry->options;
  auto argv = driver.launch(launch)->program()->argv;
  EXPECT_EQ(std::ranges::find(argv, "--forward-subagent-text"), argv.end());
}

TEST(HowItEnded, SaysWhoWasItAndHow) {
  EXPECT_EQ(how_it_ended({3, 0}), "ended with exit code 3");
  EXPECT_EQ(how_it_ended({0, SIGSEGV}), "crashed (SIGSEGV)");
  EXPECT_EQ(how_it_ended({0, SIGKILL}), "was killed from outside (SIGKILL)");
  EXPECT_EQ(how_it_ended({0, SIGKILL, true}), "was ended by the runner (SIGKILL)");
}

TEST(ClaudeLaunch, WorkingAloneWithoutAnybodyToAsk) {
  ClaudeCode driver;
  Launch launch = launch_as(OutputFormat::batch);
  launch.mode = AgentMode::autonomous;
  launch.mcp_servers_json = R"({"mcpServers":{"demo":{},"other":{}}})";
  auto plan = driver.launch(launch);
  ASSERT_TRUE(plan);
  auto at = std::find(plan->program()->argv.begin(), plan->program()->argv.end(), "--allowedTools");
  ASSERT_NE(at, plan->program()->argv.end());
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
  ClaudeRecording recording = claude_recording("claude-40-no-verbose.txt");
  recording.format = OutputFormat::stream;
  EXPECT_EQ(translate(recording, "").verdict.retry->options.at("output_format"), "json");
  recording.errors = "error: unknown option '--replay-user-messages'\n";
  recording.format = OutputFormat::bidirectional;
  EXPECT_EQ(translate(recording, "").verdict.retry->options.at("output_format"), "stream-json-one-way");
  recording.errors = "something else\n";
  auto verdict = translate(recording, "").verdict;
  EXPECT_FALSE(verdict.retry);
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
