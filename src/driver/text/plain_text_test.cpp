#include "driver/text/plain_text.h"

#include <gtest/gtest.h>

#include <csignal>

#include "driver/limits.h"
#include "json/scan.h"

namespace shepherd {
namespace {

constexpr std::int64_t kNow = 1'794'766'800'000;

Command of(CommandKind kind) {
  Command command;
  command.id = "c";
  command.kind = kind;
  return command;
}

std::string text_of(const DriverEvent& event) {
  return string_value(find_member(find_member(event.json, "data"), "text")).value_or("");
}

TEST(PlainText, OutputThatNeverPausesIsShownAllTheSame) {
  PlainText driver;
  Actions out;
  for (int i = 0; i < 100; ++i) driver.record("tick", kNow + i * 10, out);
  EXPECT_EQ(out.events().size(), 3U) << "one for every kTextJoinWait";
}

TEST(PlainText, LinesThatComeTogetherAreOneEvent) {
  PlainText driver;
  Actions out;
  driver.record("one", kNow, out);
  driver.record("two", kNow + 100, out);
  EXPECT_TRUE(out.events().empty());
  EXPECT_EQ(driver.hints().tick_at_ms, kNow + kTextJoinWait.count());
  driver.tick(kNow + 200, out);
  EXPECT_TRUE(out.events().empty());
  driver.tick(kNow + 350, out);
  ASSERT_EQ(out.events().size(), 1U);
  EXPECT_EQ(out.events()[0].type, EventType::output);
  EXPECT_EQ(text_of(out.events()[0]), "one\ntwo");
  EXPECT_EQ(driver.hints().tick_at_ms, std::nullopt);

  out.clear();
  driver.record("three", kNow + 1'000, out);
  driver.record("four", kNow + 2'000, out);
  ASSERT_EQ(out.events().size(), 1U);
  EXPECT_EQ(text_of(out.events()[0]), "three");
  driver.stderr_line("warning", kNow + 2'000, out);
  driver.finish({}, kNow + 2'001, out);
  ASSERT_EQ(out.events().size(), 4U);
  EXPECT_EQ(text_of(out.events()[1]), "four");
  EXPECT_EQ(out.events()[2].type, EventType::log);
  EXPECT_EQ(out.events()[3].type, EventType::result);
}

TEST(PlainText, ALargeOutputIsSeveralEvents) {
  PlainText driver;
  Actions out;
  std::string line(1'000, 'x');
  for (int i = 0; i < 100; ++i) driver.record(line, kNow, out);
  driver.record(std::string(100'000, 'y'), kNow, out);
  driver.finish({}, kNow, out);
  EXPECT_EQ(out.events().size(), 15U);  // 8 lines each, the last 4, the long one, the result
  EXPECT_LE(text_of(out.events()[13]).size(), kMaxEventTextBytes);
  EXPECT_GE(out.events()[13].detail.size(), 100'000U);
}

TEST(PlainText, ExitCodeIsTheResult) {
  struct Case {
    ExitFacts exit;
    State state;
    const char* data;
  } cases[] = {
      {{0, 0}, State::completed, R"({"exitCode":0})"},
      {{3, 0}, State::failed, R"({"exitCode":3})"},
      {{0, SIGKILL}, State::failed, R"({"signal":9})"},
  };
  for (const auto& [exit, state, data] : cases) {
    PlainText driver;
    Actions out;
    driver.record("last words", kNow, out);
    auto verdict = driver.finish(exit, kNow, out);
    EXPECT_EQ(verdict.state, state);
    EXPECT_EQ(find_member(out.events().back().json, "data"), data);
  }
}

TEST(PlainText, PausesAndResumes) {
  PlainText driver;
  Actions out;
  driver.command(of(CommandKind::interrupt), kNow, out);
  EXPECT_EQ(out.of<PauseAgent>().size(), 1U);
  ASSERT_EQ(out.events().size(), 1U);
  EXPECT_EQ(find_member(out.events()[0].json, "data"), R"({"state":"paused"})");
  EXPECT_EQ(out.commands().back().state, CommandState::delivered);
  out.clear();
  driver.command(of(CommandKind::interrupt), kNow, out);
  EXPECT_EQ(out.commands().back().state, CommandState::refused);
  driver.command(of(CommandKind::resume), kNow, out);
  EXPECT_EQ(out.of<ResumeAgent>().size(), 1U);
  driver.command(of(CommandKind::interrupt), kNow, out);
  out.clear();
  driver.command(of(CommandKind::stop), kNow, out);
  EXPECT_EQ(out.size(), 1U) << "nothing can be said to it: the ladder ends it";
  EXPECT_EQ(driver.finish({130, 0}, kNow, out).state, State::cancelled);
}

TEST(PlainText, SaysBeforehandWhatItCannotDo) {
  PlainText driver;
  EXPECT_EQ(encode_capabilities(driver.capabilities()),
            R"({"commands":["interrupt","resume","stop"],"acknowledges":[],"approvals":false,"deltas":false,)"
            R"("cost":false,"resumesSessions":false})");
  for (auto kind : {CommandKind::steer, CommandKind::queue, CommandKind::set_mode, CommandKind::approve}) {
    Actions out;
    driver.command(of(kind), kNow, out);
    ASSERT_EQ(out.commands().size(), 1U);
    EXPECT_EQ(out.commands()[0].state, CommandState::refused);
    EXPECT_FALSE(out.commands()[0].reason.empty());
    EXPECT_FALSE(driver.capabilities().can(kind));
  }
}

TEST(PlainText, RunsTheCommandItIsGiven) {
  PlainText driver;
  Launch launch;
  EXPECT_FALSE(driver.launch(launch));
  launch.command = {"make", "test"};
  launch.prompt = "input";
  auto plan = driver.launch(launch);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->program()->argv, launch.command);
  EXPECT_EQ(plan->input, "input\n");
  EXPECT_FALSE(plan->keep_input_open);
}

}  // namespace
}  // namespace shepherd
