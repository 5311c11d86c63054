#include "process/agent_process.h"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <string>

#include "process/limits.h"
#include "process/test_agents.h"

namespace shepherd {
namespace {

// A confined and an unconfined agent are started, used and ended in the same way.
class AgentProcessTest : public testing::TestWithParam<ConfineLevel> {
 protected:
  static Confinement wanted() { return {GetParam(), true, {}, {}, {}}; }
};
std::string level_name(const testing::TestParamInfo<ConfineLevel>& level) {
  return std::string(name(level.param));
}
const auto kEveryLevel = testing::Values(ConfineLevel::none, ConfineLevel::secrets, ConfineLevel::workspace);
INSTANTIATE_TEST_SUITE_P(Levels, AgentProcessTest, kEveryLevel, level_name);
class StopLadder : public AgentProcessTest {};
INSTANTIATE_TEST_SUITE_P(Levels, StopLadder, kEveryLevel, level_name);

TEST_P(AgentProcessTest, TellsOutputThenExitThenEnd) {
  TestAgent agent({"say", "hello"}, true, wanted());
  AgentEnd end = agent.end();
  EXPECT_EQ(agent.listener.out(), "hello");
  EXPECT_EQ(end.exit.code, 0);
  EXPECT_EQ(end.exit.signal, 0);
  EXPECT_EQ(end.rung, StopRung::none);
  ASSERT_EQ(end.ended.size(), 1u);
  EXPECT_EQ(end.ended[0].pid, agent.process->pid());
  EXPECT_EQ(end.ended[0].how, "exit 0");
  EXPECT_NE(end.ended[0].command_line.find("say hello"), std::string::npos);
  EXPECT_EQ(agent.listener.exits().size(), 1u);
  EXPECT_EQ(agent.listener.ends(), 1);
  EXPECT_EQ(agent.listener.closed(), 2);
}

TEST_P(AgentProcessTest, AgentHasItsOwnSessionAndOnlyWhatItWasGiven) {
  TestAgent where({"where"}, true, wanted());
  EXPECT_EQ(where.end().exit.code, 0);
  EXPECT_EQ(where.listener.out(), "/");
  TestAgent environment({"environment"}, true, wanted());
  environment.end();
  EXPECT_EQ(environment.listener.out(), "SHEPHERD_TEST_MARK=" + environment.mark + "\n");
  TestAgent descriptors({"descriptors"}, true, wanted());
  descriptors.end();
  EXPECT_EQ(descriptors.listener.out(), "0 1 2 ");
}

TEST_P(AgentProcessTest, WhatCannotBeStartedSaysWhy) {
  SystemClock clock;
  RecordingObserver listener;
  AgentSpec spec;
  spec.command = {"no-such-program"};
  spec.environment = {"PATH=/usr/bin:/bin"};
  spec.directory = "/";
  spec.warden_program = MISBEHAVING_AGENT;
  spec.confinement = wanted();
  auto missing = AgentProcess::start(spec, listener, clock);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  EXPECT_EQ(missing.error().message, "cannot run no-such-program: No such file or directory");
  spec.command = {"true"};
  spec.directory = "/no/such/directory";
  auto nowhere = AgentProcess::start(spec, listener, clock);
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().message, "cannot enter /no/such/directory: No such file or directory");
  spec.warden_program = "/bin/true";
  EXPECT_EQ(AgentProcess::start(spec, listener, clock).error().code, ErrorCode::internal);
}

TEST_P(AgentProcessTest, LooksTheProgramUpInTheAgentsOwnPath) {
  SystemClock clock;
  RecordingObserver listener;
  AgentSpec spec;
  std::filesystem::path agent(MISBEHAVING_AGENT);
  spec.command = {agent.filename(), "say", "found"};
  spec.environment = {"PATH=/nowhere:" + agent.parent_path().string()};
  spec.directory = "/";
  spec.warden_program = MISBEHAVING_AGENT;
  spec.confinement = wanted();
  auto process = AgentProcess::start(spec, listener, clock);
  ASSERT_TRUE(process) << process.error().message;
  ASSERT_TRUE((*process)->wait(20s));
  EXPECT_EQ(listener.out(), "found");
}

TEST_P(AgentProcessTest, InputComesBackWholeAndCloses) {
  TestAgent agent({"echo"}, true, wanted());
  std::string sent;
  for (int i = 0; i < 30'000; ++i) sent += "line " + std::to_string(i) + " of what an operator says\n";
  ASSERT_TRUE(agent.process->write(sent));
  agent.process->close_input();
  EXPECT_EQ(agent.process->write("more").error().reason, "stdin_closed");
  EXPECT_EQ(agent.end().exit.code, 0);
  EXPECT_EQ(agent.listener.out(), sent);
}

TEST_P(AgentProcessTest, AnAgentThatDoesNotReadNeverMakesTheWriterWait) {
  TestAgent agent({"deaf"}, true, wanted());
  ASSERT_TRUE(agent.ready());
  std::string megabyte(1 << 20, 'x');
  Result<void> last;
  int taken = 0;
  while ((last = agent.process->write(megabyte))) ASSERT_LT(++taken, 64);
  EXPECT_EQ(last.error().reason, "stdin_full");
  agent.process->kill();
  agent.end();
  EXPECT_EQ(agent.process->write("x").error().reason, "stdin_closed");
}

TEST_P(AgentProcessTest, WithoutStdinItReadsAnEmptyFile) {
  TestAgent agent({"echo"}, false, wanted());
  EXPECT_EQ(agent.end().exit.code, 0);
  EXPECT_FALSE(agent.process->write("x"));
}

TEST_P(AgentProcessTest, AFloodArrivesWhole) {
  TestAgent agent({"flood", "50000000"}, true, wanted());
  EXPECT_EQ(agent.end().exit.code, 0);
  EXPECT_EQ(agent.listener.out().size(), 50'000'000u);
}

TEST_P(AgentProcessTest, AnAgentMayCloseItsOutputAndLive) {
  TestAgent agent({"close_output"}, true, wanted());
  ASSERT_TRUE(eventually([&] { return agent.listener.closed() == 2; }));
  EXPECT_FALSE(agent.process->wait(50ms));
  EXPECT_EQ(carriers_of(agent.mark).size(), 1u);
  agent.process->close_input();
  EXPECT_EQ(agent.end().exit.code, 5);
}

TEST_P(AgentProcessTest, ExitIsToldAlthoughAChildHoldsTheOutputAndTheChildIsEnded) {
  auto began = std::chrono::steady_clock::now();
  TestAgent agent({"exit_but_child_holds_output"}, true, wanted());
  ASSERT_TRUE(eventually([&] { return !agent.listener.exits().empty(); }));
  EXPECT_EQ(agent.listener.ends(), 0) << "the exit is told at once, the end when nobody holds the output any more";
  AgentEnd end = agent.end();
  EXPECT_GE(std::chrono::steady_clock::now() - began, kAgentDrain);
  EXPECT_EQ(end.exit.code, 3);
  EXPECT_EQ(agent.listener.out(), "last words\n");
  ASSERT_EQ(end.ended.size(), 2u);
  EXPECT_EQ(end.ended[0].how, "exit 3");
  EXPECT_EQ(end.ended[1].how, "SIGKILL");
  EXPECT_TRUE(carriers_of(agent.mark).empty());
}

TEST_P(AgentProcessTest, SilenceIsVisible) {
  TestAgent agent({"silent"}, true, wanted());
  ASSERT_TRUE(agent.ready());
  std::int64_t last = agent.process->last_output_ms();
  EXPECT_FALSE(agent.process->wait(60ms));
  EXPECT_EQ(agent.process->last_output_ms(), last);
  EXPECT_GE(agent.clock.steady_ms() - last, 60);
}

TEST_P(AgentProcessTest, TheDestructorLeavesNobody) {
  std::string mark;
  {
    TestAgent agent({"stubborn"}, true, wanted());
    mark = agent.mark;
    ASSERT_TRUE(agent.ready());
    ASSERT_TRUE(eventually([&] { return carriers_of(mark).size() == 4; }));
  }
  EXPECT_TRUE(carriers_of(mark).empty());
}

TEST_P(StopLadder, EachRungIsTheLastForTheAgentThatHeedsIt) {
  TestAgent sigint({"exit_on_sigint"}, true, wanted());
  ASSERT_TRUE(sigint.ready());
  StopPlan patient = quick_plan();
  patient.close_wait = patient.terminate_wait = 20s;
  sigint.process->stop(patient);
  AgentEnd first = sigint.end();
  EXPECT_EQ(first.rung, StopRung::close);
  EXPECT_EQ(first.exit.code, 7);

  TestAgent sigterm({"exit_on_sigterm"}, true, wanted());
  ASSERT_TRUE(sigterm.ready());
  patient.close_wait = 20ms;
  sigterm.process->stop(patient);
  AgentEnd second = sigterm.end();
  EXPECT_EQ(second.rung, StopRung::terminate);
  EXPECT_EQ(second.stopped_by(), "SIGTERM");
  EXPECT_EQ(second.exit.code, 7);
}

TEST_P(StopLadder, TheAgentsOwnInterruptComesFirst) {
  TestAgent agent({"echo"}, true, wanted());
  StopPlan plan;
  plan.interrupt_wait = 20s;
  plan.interrupt = [&] {
    agent.process->close_input();  // the signal to end that this agent understands
    return true;
  };
  agent.process->stop(plan);
  AgentEnd end = agent.end();
  EXPECT_EQ(end.rung, StopRung::interrupt);
  EXPECT_EQ(end.exit.code, 0);
}

TEST_P(StopLadder, AnInterruptThatCannotBeGivenIsPassedOver) {
  TestAgent agent({"exit_on_sigint"}, true, wanted());
  ASSERT_TRUE(agent.ready());
  StopPlan plan;
  plan.interrupt = [] { return false; };
  agent.process->stop(plan);
  EXPECT_EQ(agent.end().rung, StopRung::close);
}

TEST_P(StopLadder, ListsEverybodyWhoIsGone) {
  TestAgent agent({"stubborn"}, true, wanted());
  ASSERT_TRUE(agent.ready());
  ASSERT_TRUE(eventually([&] { return carriers_of(agent.mark).size() == 4; }));
  agent.process->stop(quick_plan());
  AgentEnd end = agent.end();
  EXPECT_TRUE(carriers_of(agent.mark).empty());
  EXPECT_EQ(end.rung, StopRung::kill);
  EXPECT_EQ(end.exit.signal, SIGKILL);
  EXPECT_TRUE(end.left.empty());
  ASSERT_EQ(end.ended.size(), 4u);
  for (const EndedProcess& process : end.ended) {
    EXPECT_EQ(process.how, "SIGKILL");
    EXPECT_NE(process.command_line.find("stubborn"), std::string::npos);
  }
}

TEST_P(StopLadder, APausedAgentIsStoppedToo) {
  TestAgent agent({"exit_on_sigint"}, true, wanted());
  ASSERT_TRUE(agent.ready());
  agent.process->pause();
  ASSERT_TRUE(eventually([&] { return process_stat(agent.process->pid())->state == 'T'; }));
  StopPlan plan;
  plan.close_wait = 20s;
  agent.process->stop(plan);
  EXPECT_EQ(agent.end().rung, StopRung::close);
}

TEST_P(StopLadder, KillCutsAStopShort) {
  TestAgent agent({"stubborn"}, true, wanted());
  ASSERT_TRUE(agent.ready());
  StopPlan patient;
  patient.close_wait = patient.terminate_wait = 60s;
  agent.process->stop(patient);
  agent.process->kill();
  EXPECT_EQ(agent.end().rung, StopRung::kill);
  EXPECT_TRUE(carriers_of(agent.mark).empty());
}

TEST_P(StopLadder, AForkBombIsEnded) {
  TestAgent agent({"fork_bomb", "600"}, true, wanted());
  ASSERT_TRUE(agent.ready());
  StopPlan plan;
  plan.interrupt_wait = plan.close_wait = plan.terminate_wait = 0ms;  // straight to the last rung
  plan.kill_wait = 60s;                                               // for a busy machine
  agent.process->stop(plan);
  AgentEnd end = agent.end();
  EXPECT_TRUE(carriers_of(agent.mark).empty());
  EXPECT_TRUE(end.left.empty());
  EXPECT_EQ(end.rung, StopRung::kill);
}

TEST_P(AgentProcessTest, PauseStopsTheWholeTreeAndResumeLetsItGoOn) {
  TestAgent agent({"stubborn"}, true, wanted());
  ASSERT_TRUE(agent.ready());
  ASSERT_TRUE(eventually([&] { return carriers_of(agent.mark).size() == 4; }));
  auto all_are = [&](bool stopped) {
    for (pid_t pid : carriers_of(agent.mark)) {
      auto stat = process_stat(pid);
      if (!stat || (stat->state == 'T') != stopped) return false;
    }
    return true;
  };
  agent.process->pause();
  EXPECT_TRUE(eventually([&] { return all_are(true); }));
  agent.process->resume();
  EXPECT_TRUE(eventually([&] { return all_are(false); }));
}

TEST_P(AgentProcessTest, UsageCountsTheWholeTree) {
  TestAgent agent({"burn"}, true, wanted());
  ASSERT_TRUE(agent.ready());
  ASSERT_TRUE(eventually([&] { return agent.process->usage().cpu_ms >= 100; }));
  AgentUsage usage = agent.process->usage();
  EXPECT_EQ(usage.processes, 2u);
  EXPECT_GT(usage.resident_bytes, 100'000u);
  agent.process->kill();
  EXPECT_GE(agent.end().cpu_ms, 100);
  EXPECT_GE(agent.process->usage().cpu_ms, 100);
  EXPECT_EQ(agent.process->usage().processes, 0u);
}

}  // namespace
}  // namespace shepherd
