// Tests of what an agent asks its machine for: terminals from their start to their end, and the order of the answers.
#include "runner/host_calls.h"

#include <algorithm>
#include <atomic>
#include <csignal>

#include "json/text.h"
#include "runner/host_for_test.h"
#include "runner/limits.h"

namespace shepherd {
namespace {

class HostCallsTest : public ::testing::Test {
 protected:
  // A command that ends only by SIGKILL.
  std::string start_stubborn() {
    std::string terminal = world.start("trap '' TERM; echo ready; while :; do sleep 0.05; done");
    EXPECT_TRUE(world.shows(terminal, "ready"));
    return terminal;
  }
  HostWorld world;
};

TEST_F(HostCallsTest, ACommandFromStartToEnd) {
  std::string terminal = world.start("echo out; echo err >&2; pwd; exit 3");
  TerminalState state = world.state(AwaitTerminal{terminal});
  EXPECT_FALSE(state.running);
  EXPECT_EQ(state.code, 3);
  EXPECT_FALSE(state.signal);
  EXPECT_FALSE(state.cut);
  for (const std::string& line : {std::string("out\n"), std::string("err\n"), world.work() + "\n"}) {
    EXPECT_NE(state.output.find(line), std::string::npos) << state.output;
  }
  EXPECT_EQ(world.state(LookAtTerminal{terminal}).output, state.output) << "it stays until it is released";
  EXPECT_EQ(world.reason(KillTerminal{terminal}), "");
  EXPECT_EQ(world.reason(ReleaseTerminal{terminal}), "");
  for (const HostRequest& request : std::initializer_list<HostRequest>{
           LookAtTerminal{terminal}, AwaitTerminal{terminal}, KillTerminal{terminal}, ReleaseTerminal{terminal}}) {
    EXPECT_EQ(world.reason(request), "unknown_terminal");
  }
}

TEST_F(HostCallsTest, TellsTheSignalThatKilledIt) {
  TerminalState state = world.state(AwaitTerminal{world.start("kill -SEGV $$")});
  EXPECT_EQ(state.signal, SIGSEGV);
  EXPECT_FALSE(state.code);
}

TEST_F(HostCallsTest, GetsVariablesAndADirectory) {
  HostAnswer answer = world.result(
      StartTerminal{{"sh", "-c", "pwd; echo $LANG $NEW; env | grep -c ^LANG="}, {"LANG=de", "NEW=a=b"}, "inside", {}});
  ASSERT_TRUE(answer.result) << answer.result.error().message;
  TerminalState state = world.state(AwaitTerminal{std::get<TerminalStarted>(*answer.result).terminal});
  EXPECT_EQ(state.output, world.at("inside") + "\nde a=b\n1\n");
  auto refused = [&](std::vector<std::string> command, std::vector<std::string> environment, std::string directory) {
    return world.reason(StartTerminal{std::move(command), std::move(environment), std::move(directory), {}});
  };
  EXPECT_EQ(refused({"true"}, {}, "/etc"), "outside_root");
  EXPECT_EQ(refused({"true"}, {}, "inside/.."), "outside_root");
  EXPECT_EQ(refused({"true"}, {}, "missing"), "no_file");
  EXPECT_EQ(refused({"true"}, {"novalue"}, ""), "bad_variable");
  EXPECT_EQ(refused({"true"}, {"=x"}, ""), "bad_variable");
  EXPECT_EQ(refused({}, {}, ""), "no_command");
  EXPECT_EQ(refused({std::string("a\0b", 3)}, {}, ""), "no_command");
  EXPECT_EQ(refused({"no-such-program"}, {}, ""), "cannot_start");
}

TEST_F(HostCallsTest, AFloodKeepsItsNewestBytes) {
  std::string terminal = world.start("while :; do echo 0123456789; done", 1000);
  EXPECT_TRUE(eventually([&] { return world.state(LookAtTerminal{terminal}).cut; }));
  TerminalState state = world.state(LookAtTerminal{terminal});
  EXPECT_LE(state.output.size(), 1000u);
  EXPECT_GE(state.output.size(), 900u);
  EXPECT_TRUE(state.running);
  EXPECT_EQ(world.reason(KillTerminal{terminal}), "");
  state = world.state(LookAtTerminal{terminal});
  EXPECT_FALSE(state.running);
  EXPECT_EQ(state.signal, SIGTERM);
  TerminalState none = world.state(AwaitTerminal{world.start("echo text", 0)});
  EXPECT_EQ(none.output, "");
  EXPECT_TRUE(none.cut);
}

TEST_F(HostCallsTest, KillThenLook) {
  std::string terminal = start_stubborn();
  EXPECT_EQ(world.reason(KillTerminal{terminal}), "");
  TerminalState state = world.state(LookAtTerminal{terminal});
  EXPECT_FALSE(state.running);
  EXPECT_EQ(state.signal, SIGKILL);
  EXPECT_EQ(state.output, "ready\n");
}

TEST_F(HostCallsTest, AReleaseEndsWhatRuns) {
  std::string terminal = start_stubborn();
  std::string waits = world.ask(AwaitTerminal{terminal});
  std::string release = world.ask(ReleaseTerminal{terminal});
  EXPECT_EQ(world.reason(LookAtTerminal{terminal}), "unknown_terminal") << "at once";
  EXPECT_TRUE(world.wait(release).result);
  EXPECT_TRUE(carriers_of(world.mark).empty());
  EXPECT_EQ(std::get<TerminalState>(*world.wait(waits).result).signal, SIGKILL);
  std::vector<std::string> order = world.order();
  EXPECT_LT(std::ranges::find(order, waits), std::ranges::find(order, release));
}

TEST_F(HostCallsTest, ManyAtOnceAndNotMore) {
  std::vector<std::string> starts;
  for (std::size_t i = 0; i < kMaxTerminals; ++i) {
    starts.push_back(world.ask(StartTerminal{{"sleep", "600"}, {}, "", {}}));
  }
  EXPECT_EQ(world.reason(StartTerminal{{"true"}, {}, "", {}}), "too_many_terminals");
  std::vector<std::string> releases;
  for (const std::string& start : starts) {
    HostAnswer answer = world.wait(start);
    ASSERT_TRUE(answer.result) << answer.result.error().message;
    releases.push_back(world.ask(ReleaseTerminal{std::get<TerminalStarted>(*answer.result).terminal}));
  }
  for (const std::string& release : releases) EXPECT_TRUE(world.wait(release).result);
  EXPECT_EQ(world.state(AwaitTerminal{world.start("true")}).code, 0);
}

TEST_F(HostCallsTest, TheRunEndsWithOpenTerminals) {
  start_stubborn();
  std::string over = world.start("exit 0");
  world.state(AwaitTerminal{over});
  std::string two = world.start("sleep 601 & sleep 602");
  std::string waits = world.ask(AwaitTerminal{two});
  EXPECT_TRUE(eventually([&] { return carriers_of(world.mark).size() >= 5; }));
  AgentEnd end = world.calls->end();
  EXPECT_TRUE(carriers_of(world.mark).empty());
  auto listed = [&](const std::string& command) {
    return std::ranges::count_if(end.ended, [&](const EndedProcess& process) {
      return process.command_line.find(command) != std::string::npos;
    });
  };
  EXPECT_EQ(listed("sleep 601"), 2) << "the command, and its child";
  EXPECT_GE(listed("trap"), 1);
  EXPECT_EQ(listed("exit 0"), 0) << "it had ended before";
  EXPECT_TRUE(end.left.empty());
  EXPECT_FALSE(world.answered(waits)) << "after the end no answer comes";
  EXPECT_EQ(world.reason(ReadFile{"a", {}, {}}), "agent_ended");
}

// An operator who kills a run does not wait for a command that ignores SIGTERM.
TEST_F(HostCallsTest, AKillLeavesOutTheFirstSignal) {
  std::string terminal = world.start("trap 'touch told' TERM; echo ready; while :; do sleep 0.05; done");
  EXPECT_TRUE(world.shows(terminal, "ready"));
  world.calls->kill();
  EXPECT_EQ(world.state(AwaitTerminal{terminal}).signal, SIGKILL);
  EXPECT_FALSE(std::filesystem::exists(world.at("told")));
}

TEST_F(HostCallsTest, FilesAndTerminalsAreEachAnsweredInOrder) {
  std::vector<std::string> files, looks;
  std::string terminal = world.start("exec sleep 600");
  for (int i = 0; i < 20; ++i) {
    files.push_back(world.ask(WriteFile{"a.txt", std::to_string(i)}));
    files.push_back(world.ask(ReadFile{"a.txt", {}, {}}));
    looks.push_back(world.ask(LookAtTerminal{terminal}));
  }
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(std::get<FileText>(*world.wait(files[2 * i + 1]).result).text, std::to_string(i));
    world.wait(looks[i]);
  }
  std::vector<std::string> order = world.order();
  auto in_order = [&](const std::vector<std::string>& of) {
    return std::ranges::is_sorted(of, {}, [&](const std::string& id) { return std::ranges::find(order, id); });
  };
  EXPECT_TRUE(in_order(files));
  EXPECT_TRUE(in_order(looks));
}

// As when the agent does not read its input: the answers about files wait, and nothing else does.
TEST_F(HostCallsTest, AnAnswerThatBlocksHoldsUpNothingElse) {
  std::atomic<bool> go = false;
  std::string terminal = world.start("exec sleep 600");
  std::atomic<std::thread::id> blocked;
  world.before_answer = [&] {
    if (blocked.load() == std::thread::id()) blocked = std::this_thread::get_id();
    if (blocked.load() == std::this_thread::get_id()) {
      EXPECT_TRUE(eventually([&] { return go.load(); }));
    }
  };
  world.put("a.txt", "text");
  std::string first = world.ask(ReadFile{"a.txt", {}, {}});
  EXPECT_TRUE(eventually([&] { return blocked.load() != std::thread::id(); }));
  EXPECT_TRUE(world.state(LookAtTerminal{terminal}).running);
  EXPECT_FALSE(world.answered(first));
  std::vector<std::string> more;
  while (more.size() < kMaxHostCalls) more.push_back(world.ask(ReadFile{"a.txt", {}, {}}));
  EXPECT_EQ(world.wait(more.back()).result.error().reason, "too_many_requests");
  more.pop_back();
  go = true;
  for (const std::string& id : more) EXPECT_TRUE(world.wait(id).result);
}

TEST(TerminalText, IsCutBetweenCharacters) {
  EXPECT_EQ(terminal_text("abc", 2), "bc");
  EXPECT_EQ(terminal_text("a\xC3\xA4", 1), "");
  EXPECT_EQ(terminal_text("\xC3\xA4z", 2), "z");
  EXPECT_EQ(terminal_text("\xA4z", 9), "\xEF\xBF\xBDz");
  EXPECT_EQ(terminal_text("ok\xE2\x82", 9), "ok") << "the rest of the character has not come";
  EXPECT_EQ(terminal_text("ok\xE2\x82\xAC", 9), "ok\xE2\x82\xAC");
  EXPECT_EQ(terminal_text("\xFF\xFF\xFF\xFF", 4), "\xEF\xBF\xBD");
  EXPECT_EQ(terminal_text("", 4), "");
}

}  // namespace
}  // namespace shepherd
