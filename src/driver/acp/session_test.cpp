#include <gtest/gtest.h>

#include "driver/acp/test_play.h"
#include "driver/test_review.h"

namespace shepherd {
namespace {

std::vector<std::string> homes_of(std::string_view program, std::map<std::string, std::string> variables) {
  AcpAgent driver;
  Launch launch;
  launch.command = {std::string(program), "acp"};
  launch.prompt = "Do it";
  EXPECT_TRUE(driver.launch(launch).has_value());
  return driver.state_paths([&](std::string_view name) { return variables[std::string(name)]; });
}

// Under confinement it may write only what is said here.
TEST(AcpHomes, AreWhereTheVariablesOfTheAgentSay) {
  EXPECT_EQ(homes_of("/usr/bin/gemini", {{"HOME", "/h"}, {"GEMINI_CLI_HOME", "/g"}}),
            (std::vector<std::string>{"/g/.gemini"}));
  EXPECT_EQ(homes_of("gemini", {{"HOME", "/h"}}), (std::vector<std::string>{"/h/.gemini"}));
  EXPECT_EQ(homes_of("opencode", {{"HOME", "/h"}, {"XDG_DATA_HOME", "/d"}, {"XDG_CONFIG_HOME", "/c"}}),
            (std::vector<std::string>{"/c/opencode", "/d/opencode", "/h/.local/state/opencode", "/h/.cache/opencode"}));
  EXPECT_EQ(homes_of("goose", {{"HOME", "/h"}, {"XDG_STATE_HOME", "/s"}}),
            (std::vector<std::string>{"/h/.config/goose", "/h/.local/share/goose", "/s/goose"}));
  EXPECT_EQ(homes_of("claude-agent-acp", {{"HOME", "/h"}, {"CLAUDE_CONFIG_DIR", "/c"}}),
            (std::vector<std::string>{"/c"}));
  EXPECT_TRUE(homes_of("gemini", {}).empty());
}

// Only the protocol's own code says that a login is missing: words about keys may be about a wrong one.
TEST(AcpSession, AWrongKeyIsNoMissingLogin) {
  AcpPlay play(read_recording("acp", "acp-gemini-01-permissions.jsonl"));
  play.start();
  play.until("\"authMethods\"");
  play.driver.record(
      R"({"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"API key not valid. Please pass a valid API key."}})",
      play.now, play.out);
  ASSERT_EQ(play.out.events().size(), 1U);
  EXPECT_EQ(text_member(data_of(play.out.events().front()), "code"), "session_failed");
  EXPECT_EQ(text_member(data_of(play.out.events().front()), "message"),
            "The agent opened no session: API key not valid. Please pass a valid API key.");
}

// Goose and claude-agent-acp say that a session can be closed; Gemini does not.
TEST(AcpSession, IsClosedAtTheEndByAgentsThatCan) {
  auto left = [](std::string_view recording) {
    AcpPlay play(read_recording("acp", recording));
    play.start();
    play.to_end();
    Actions out;
    play.driver.leave(out);
    play.driver.leave(out);
    return out.written();
  };
  EXPECT_EQ(left("acp-gemini-01-permissions.jsonl"), "");
  std::string line = left("acp-goose-01-permissions.jsonl");
  EXPECT_EQ(text_member(line, "method"), "session/close");
  EXPECT_EQ(text_member(find_member(line, "params"), "sessionId"), "20261118_1");
  EXPECT_EQ(lines_of(line).size(), 1U) << "once";
}

TEST(AcpSession, APlanIsToldInTheShapeOfAllAgents) {
  AcpPlay play(read_recording("acp", "acp-claude-02-cancel.jsonl"));
  play.start();
  play.until("Starting.");
  play.driver.record(
      R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"plan","entries":[{"content":"Read it","priority":"high","status":"completed"},{"content":"Change it","status":"in_progress"},{"content":"Test it","status":"pending"}]}}})",
      play.now, play.out);
  const DriverEvent& plan = play.out.events().back();
  EXPECT_EQ(text_member(plan.json, "summary"), "Plan: 1 of 3 done; now: Change it");
  EXPECT_EQ(data_of(plan),
            R"({"event":"progress","details":{"plan":[{"content":"Read it","status":"completed","state":"done"},)"
            R"({"content":"Change it","status":"in_progress","state":"doing"},)"
            R"({"content":"Test it","status":"pending","state":"to do"}]}})");
}

}  // namespace
}  // namespace shepherd
