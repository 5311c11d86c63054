#include <gtest/gtest.h>

#include "driver/gemini/gemini_stream.h"
#include "json/scan.h"

namespace shepherd {
namespace {

constexpr std::int64_t kNow = 1'794'766'800'000;

Launch gemini_task(AgentMode mode) {
  Launch launch;
  launch.prompt = "Fix it";
  launch.mode = mode;
  return launch;
}

TEST(GeminiLaunch, AloneItMayDoEverything) {
  auto plan = GeminiStream().launch(gemini_task(AgentMode::autonomous));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->program()->argv, (std::vector<std::string>{"gemini", "--output-format", "stream-json", "--yolo"}));
  EXPECT_EQ(plan->input, "Fix it") << "a prompt can be larger than an argument";
  EXPECT_FALSE(plan->keep_input_open);
  EXPECT_TRUE(plan->remark.empty());
}

TEST(GeminiLaunch, ArgumentsOfTheConfigurationComeBeforeItsOwn) {
  Launch launch = gemini_task(AgentMode::autonomous);
  launch.program = "gemini";
  launch.command = {"gemini", "--sandbox"};
  EXPECT_EQ(GeminiStream().launch(launch)->program()->argv,
            (std::vector<std::string>{"gemini", "--sandbox", "--output-format", "stream-json", "--yolo"}));
}

TEST(GeminiLaunch, WithAnOperatorItSaysWhatItCannotDo) {
  auto plan = GeminiStream().launch(gemini_task(AgentMode::interactive));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->program()->argv.back(), "stream-json");
  EXPECT_NE(plan->remark.find("cannot ask for approvals"), std::string::npos);
}

TEST(GeminiLaunch, OfAListNothingElseIsOffered) {
  Launch launch = gemini_task(AgentMode::autonomous);
  launch.allowed_tools = {"run_shell_command", "write_file"};
  launch.model = "gemini-2.5-pro";
  launch.resume_session = "s";
  EXPECT_EQ(
      GeminiStream().launch(launch)->program()->argv,
      (std::vector<std::string>{"gemini", "--output-format", "stream-json", "--model", "gemini-2.5-pro", "--resume",
                                "s", "--allowed-tools", "run_shell_command", "--allowed-tools", "write_file"}));
  launch.allowed_tools = {"--yolo"};
  EXPECT_FALSE(GeminiStream().launch(launch));
}

TEST(GeminiLaunch, WhatTheTaskWantsAndCannotHaveIsSaid) {
  Launch launch = gemini_task(AgentMode::autonomous);
  launch.mcp_servers_json = "{}";
  EXPECT_NE(GeminiStream().launch(launch)->remark.find("MCP"), std::string::npos);
}

// Its exit code is the status of HTTP, as far as a process can say it.
TEST(GeminiEnd, AnExitCodeIsExplained) {
  struct Case {
    int code;
    const char* words;
  } cases[] = {{144, "answered 400"}, {145, "answered 401"},  {173, "answered 429"},
               {247, "answered 503"}, {55, "does not trust"}, {1, "exit code 1"}};
  for (const auto& [code, words] : cases) {
    GeminiStream driver;
    Actions out;
    ASSERT_TRUE(driver.launch(gemini_task(AgentMode::autonomous)));
    Verdict verdict = driver.finish({code, 0}, kNow, out);
    EXPECT_EQ(verdict.state, State::failed);
    EXPECT_NE(verdict.message.find(words), std::string::npos) << code << ": " << verdict.message;
    ASSERT_EQ(out.events().size(), 1U);
    EXPECT_EQ(out.events()[0].type, EventType::error);
  }
}

TEST(GeminiSteering, ItStandsStillAndGoesOn) {
  GeminiStream driver;
  Actions out;
  Command command;
  command.id = "c";
  command.kind = CommandKind::interrupt;
  driver.command(command, kNow, out);
  EXPECT_EQ(out.of<PauseAgent>().size(), 1U);
  command.kind = CommandKind::resume;
  driver.command(command, kNow, out);
  EXPECT_EQ(out.of<ResumeAgent>().size(), 1U);
  for (auto kind : {CommandKind::steer, CommandKind::approve, CommandKind::set_mode}) {
    command.kind = kind;
    driver.command(command, kNow, out);
    EXPECT_EQ(out.commands().back().state, CommandState::refused);
    EXPECT_FALSE(driver.capabilities().can(kind));
  }
}

}  // namespace
}  // namespace shepherd
