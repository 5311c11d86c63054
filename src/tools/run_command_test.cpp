#include "tools/run_command.h"

#include <gtest/gtest.h>

#include "json/text.h"
#include "json/write.h"
#include "process/test_agents.h"
#include "tools/limits.h"
#include "tools/tools_for_test.h"

namespace shepherd {
namespace {

std::string command_arguments(const std::string& command, std::int64_t seconds = 0) {
  return object_text([&](JsonObject& object) {
    object.text("command", command);
    if (seconds > 0) object.number("timeout_seconds", seconds);
  });
}

class RunCommandTool : public ::testing::Test {
 protected:
  RunCommandTool() { world.environment.push_back("TEST_MARK=" + mark); }

  ToolOutcome run(const std::string& command, std::int64_t seconds = 0) {
    return world.call("run_command", command_arguments(command, seconds));
  }
  // Starts it without waiting.
  std::unique_ptr<ToolRun> start(const std::string& command) {
    if (world.tools == nullptr) {
      EXPECT_TRUE(world.open());
    }
    return world.tools->start({"s", "c", "run_command", command_arguments(command)},
                              [this](ToolOutcome outcome) { outcomes.push_back(std::move(outcome)); }, {});
  }
  bool turn_until_gone() {
    return world.turn_until([this] { return carriers_of(mark).empty(); });
  }

  std::string mark = fresh_mark();
  ToolWorld world;
  std::vector<ToolOutcome> outcomes;
};

TEST_F(RunCommandTool, GivesOutputAndExitCode) {
  ToolOutcome good = run("echo one; echo two >&2; pwd");
  EXPECT_TRUE(good.success);
  EXPECT_NE(good.content.find("one\n"), std::string::npos);
  EXPECT_NE(good.content.find("two\n"), std::string::npos);
  EXPECT_NE(good.content.find(world.root() + "\n"), std::string::npos);
  EXPECT_TRUE(good.content.ends_with("[exit code 0]")) << good.content;
  EXPECT_EQ(good.proof, "ended: 1 process");
  ToolOutcome bad = run("echo no; exit 3");
  EXPECT_FALSE(bad.success);
  EXPECT_EQ(bad.content, "no\n[exit code 3]");
  EXPECT_EQ(bad.summary, "exit code 3, 3 bytes of output");
  EXPECT_EQ(run("kill -SEGV $$").content, "[SIGSEGV]");
  EXPECT_EQ(run("cat").content, "[exit code 0]") << "it has no input";
  EXPECT_EQ(run("-x").success, false) << "it is a command, not an option";
}

TEST_F(RunCommandTool, HasTheGivenEnvironmentAlone) {
  std::string environment = run("env").content;
  EXPECT_NE(environment.find("TEST_MARK=" + mark), std::string::npos);
  EXPECT_EQ(environment.find("HOME="), std::string::npos) << environment;
}

TEST_F(RunCommandTool, EndsWhatItLeavesBehind) {
  ToolOutcome outcome = run("sleep 600 >/dev/null 2>&1 & setsid sleep 601 >/dev/null 2>&1 & echo started");
  EXPECT_TRUE(outcome.success);
  EXPECT_NE(outcome.content.find("[It left 2 processes running, which were ended.]"), std::string::npos)
      << outcome.content;
  EXPECT_EQ(outcome.proof, "ended: 3 processes");
  EXPECT_TRUE(carriers_of(mark).empty());
}

TEST_F(RunCommandTool, EndsAtItsTimeLimit) {
  ToolOutcome outcome = run("echo begun; sleep 600 & setsid sleep 601 & wait", 1);
  EXPECT_FALSE(outcome.success);
  EXPECT_EQ(outcome.content, "begun\n[ended after 1 s, which was its time limit]");
  EXPECT_TRUE(outcome.proof.starts_with("ended: ")) << outcome.proof;
  EXPECT_TRUE(carriers_of(mark).empty());
  world.settings.max_command_seconds = 5;
  ASSERT_TRUE(world.open());
  EXPECT_FALSE(run("true", 6).success);
  EXPECT_TRUE(run("true", 5).success);
}

TEST_F(RunCommandTool, CancelledEndsEveryProcess) {
  auto running = start("trap '' TERM; sleep 600 & setsid sleep 601 & touch begun; wait; sleep 602");
  ASSERT_TRUE(world.turn_until([this] { return world.exists("begun"); }));
  EXPECT_GE(carriers_of(mark).size(), 2U);
  running.reset();
  EXPECT_TRUE(turn_until_gone());
  EXPECT_TRUE(outcomes.empty());
}

TEST_F(RunCommandTool, DestroyingTheToolboxEndsEveryProcess) {
  auto running = start("sleep 600 & touch begun; wait");
  ASSERT_TRUE(world.turn_until([this] { return world.exists("begun"); }));
  running.reset();
  world.tools.reset();
  EXPECT_TRUE(carriers_of(mark).empty());
}

TEST_F(RunCommandTool, ManyStartedAndCancelledAtOnceLeaveNothing) {
  std::vector<std::unique_ptr<ToolRun>> runs;
  for (int i = 0; i < 30; ++i) {
    runs.push_back(start(i % 2 == 0 ? "sleep 600" : "true"));
    if (i % 3 == 0) runs.erase(runs.begin());
    world.loop.turn(std::chrono::steady_clock::now());
  }
  runs.clear();
  world.tools.reset();
  EXPECT_TRUE(carriers_of(mark).empty());
}

TEST_F(RunCommandTool, HasABoundOfCommands) {
  std::vector<std::unique_ptr<ToolRun>> runs;
  for (std::size_t i = 0; i < kMaxCommands; ++i) runs.push_back(start("sleep 600"));
  ToolOutcome refused = run("true");
  EXPECT_FALSE(refused.success);
  EXPECT_EQ(refused.content, "Error: too many commands run at this time. Try it again later.");
  runs.clear();
  EXPECT_TRUE(world.turn_until([this] { return run("true").success; })) << "there is room again";
}

TEST_F(RunCommandTool, BoundsItsOutput) {
  ToolOutcome outcome = run("echo begin; head -c 50000000 /dev/zero | tr '\\0' 'x'; echo; echo end");
  EXPECT_TRUE(outcome.success);
  EXPECT_LE(outcome.content.size(), kMaxToolResultBytes);
  EXPECT_TRUE(outcome.content.starts_with("begin\nxxx"));
  EXPECT_TRUE(outcome.content.ends_with("xxx\nend\n[exit code 0]"));
  ToolOutcome bytes = run("head -c 300000 /dev/urandom");
  EXPECT_TRUE(is_utf8(bytes.content));
  EXPECT_LE(bytes.content.size(), kMaxToolResultBytes);
}

TEST_F(RunCommandTool, RefusesWhatCannotRun) {
  EXPECT_FALSE(run("").success);
  EXPECT_FALSE(run(std::string("true\0rm x", 9)).success);
  EXPECT_FALSE(run(std::string(kMaxShellCommandBytes + 1, 'x')).success);
  EXPECT_FALSE(world.call("run_command", "{}").success);
  EXPECT_FALSE(world.call("run_command", R"({"command":"true","command":"false"})").success);
  std::filesystem::remove_all(world.root());
  ToolOutcome gone = run("true");
  EXPECT_FALSE(gone.success);
  EXPECT_TRUE(gone.content.starts_with("Error: the command cannot start: ")) << gone.content;
}

TEST_F(RunCommandTool, IsDescribedAndHasARule) {
  ASSERT_TRUE(world.open());
  EXPECT_EQ(world.tools->describe("run_command", R"({"command":"git\nstatus"})"), "Runs git status");
  EXPECT_EQ(world.tools->rule_of("run_command", R"({"command":"git status"})"), "run_command(git)");
  EXPECT_EQ(world.tools->rule_of("run_command", R"({"command":"git status; rm x"})"),
            "run_command(\"git status; rm x\")");
  EXPECT_EQ(world.tools->rule_of("run_command", R"({"command":"git status","command":"rm x"})"), "run_command(\"\")");
  EXPECT_EQ(world.tools->rule_of("run_command", "nonsense"), "run_command(\"\")");
}

}  // namespace
}  // namespace shepherd
