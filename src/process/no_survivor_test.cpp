// No process survives a kill: of the runner with SIGKILL at random moments, of the warden, and in a hundred stops.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "process/test_agents.h"

namespace shepherd {
namespace {

std::uint64_t seed_of_run() {
  const char* given = std::getenv("SHEPHERD_CRASH_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : SystemRandom().next();
}

// Starts a runner as a separate process.
pid_t start_runner(const std::string& mark, ConfineLevel level, std::vector<std::string> mode) {
  std::vector<std::string> words{MISBEHAVING_AGENT, "runner", mark, std::string(name(level))};
  words.insert(words.end(), mode.begin(), mode.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::array<char*, 1> environment{nullptr};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  pid_t pid = 0;
  EXPECT_EQ(::posix_spawn(&pid, MISBEHAVING_AGENT, &actions, nullptr, arguments.data(), environment.data()), 0);
  ::posix_spawn_file_actions_destroy(&actions);
  return pid;
}

bool all_gone(const std::vector<ProcessStat>& processes) {
  return std::none_of(processes.begin(), processes.end(), [](const ProcessStat& process) {
    auto now = process_stat(process.pid);
    return now && now->start_ticks == process.start_ticks && now->state != 'Z' && now->state != 'X';
  });
}

bool all_reaped(const std::vector<ProcessStat>& processes) {
  return std::none_of(processes.begin(), processes.end(), [](const ProcessStat& process) {
    auto now = process_stat(process.pid);
    return now && now->start_ticks == process.start_ticks;
  });
}

// Runs without and with a PID namespace of the agent's own.
class NoSurvivor : public testing::TestWithParam<ConfineLevel> {
 protected:
  static Confinement wanted() { return {GetParam(), true, {}, {}, {}}; }
};
INSTANTIATE_TEST_SUITE_P(Levels, NoSurvivor, testing::Values(ConfineLevel::none, ConfineLevel::secrets),
                         [](const auto& level) { return std::string(name(level.param)); });

TEST_P(NoSurvivor, RunnerKilledAtRandomMoments) {
  std::uint64_t seed = seed_of_run();
  std::printf("SHEPHERD_CRASH_SEED=%llu\n", static_cast<unsigned long long>(seed));
  SeededRandom random(seed);
  int agents_seen = 0;
  for (int round = 0; round < 40; ++round) {
    std::string mark = fresh_mark();
    pid_t runner = start_runner(mark, GetParam(), {"stubborn"});
    // Kills at a moment of its start or once it has that many processes: from before the warden exists to long after
    // the agent has all its children.
    std::size_t wanted = random.below(6);
    ASSERT_TRUE(eventually([&] { return wanted == 5 || carriers_of(mark).size() >= wanted; }));
    std::this_thread::sleep_for(std::chrono::microseconds(random.below(20'000)));
    std::vector<ProcessStat> family = descendants_of(runner);
    if (family.size() > 1) ++agents_seen;
    ::kill(runner, SIGKILL);
    ::waitpid(runner, nullptr, 0);
    ASSERT_TRUE(eventually([&] { return all_gone(family); })) << "round " << round << ", seed " << seed;
    // A warden that is just starting checks once more and finds its runner gone.
    ASSERT_TRUE(eventually([&] { return carriers_of(mark).empty(); })) << "round " << round << ", seed " << seed;
  }
  EXPECT_GT(agents_seen, 0);
}

TEST_P(NoSurvivor, RunnerKilledWhileItsAgentForksWithoutEnd) {
  std::string mark = fresh_mark();
  pid_t runner = start_runner(mark, GetParam(), {"fork_bomb", "400"});
  ASSERT_TRUE(eventually([&] { return carriers_of(mark).size() > 20; }));
  ::kill(runner, SIGKILL);
  ::waitpid(runner, nullptr, 0);
  EXPECT_TRUE(eventually([&] { return carriers_of(mark).empty(); }, 90s));
}

TEST_P(NoSurvivor, WardenKilled) {
  for (int round = 0; round < 10; ++round) {
    TestAgent agent({"stubborn"}, true, wanted());
    ASSERT_TRUE(agent.ready());
    ASSERT_TRUE(eventually([&] { return carriers_of(agent.mark).size() == 4; }));
    pid_t warden = process_stat(agent.process->pid())->parent;
    std::vector<ProcessStat> family = descendants_of(warden);
    ::kill(warden, SIGKILL);
    AgentEnd end = agent.end();
    EXPECT_TRUE(end.warden_lost);
    EXPECT_EQ(end.exit.signal, SIGKILL);
    EXPECT_TRUE(carriers_of(agent.mark).empty());
    EXPECT_TRUE(end.left.empty()) << "the end was told before everybody was gone: " << end.left.front().command_line;
    // No zombie is left either.
    EXPECT_TRUE(all_reaped(family)) << "round " << round;
  }
}

TEST_P(NoSurvivor, AWardenThatIsStoppedDoesNotSaveTheAgent) {
  TestAgent agent({"stubborn"}, true, wanted());
  ASSERT_TRUE(agent.ready());
  pid_t warden = process_stat(agent.process->pid())->parent;
  ::kill(warden, SIGSTOP);
  StopPlan plan = quick_plan();
  plan.kill_wait = 50ms;
  agent.process->stop(plan);
  EXPECT_TRUE(agent.end().warden_lost);
  EXPECT_TRUE(carriers_of(agent.mark).empty());
}

// In its PID namespace the agent cannot reach its warden. If another process stops the warden, the runner's end still
// ends all processes.
TEST(ConfinedSurvivor, RunnerKilledWhileAConfinedAgentsWardenIsStopped) {
  std::string mark = fresh_mark();
  pid_t runner = start_runner(mark, ConfineLevel::secrets, {"stubborn"});
  ASSERT_TRUE(eventually([&] { return carriers_of(mark).size() == 4; }));
  std::vector<ProcessStat> family = descendants_of(runner);
  ASSERT_FALSE(family.empty());
  pid_t warden = family.front().pid;
  ::kill(warden, SIGSTOP);
  ::kill(runner, SIGKILL);
  ::waitpid(runner, nullptr, 0);
  EXPECT_TRUE(eventually([&] { return carriers_of(mark).empty(); }));
  ::kill(warden, SIGKILL);
}

TEST_P(NoSurvivor, AnotherAgentOutlivesALostWarden) {
  TestAgent unlucky({"stubborn"}, true, wanted());
  TestAgent other({"stubborn"}, true, wanted());
  ASSERT_TRUE(unlucky.ready() && other.ready());
  ASSERT_TRUE(eventually([&] { return carriers_of(other.mark).size() == 4; }));
  ::kill(process_stat(unlucky.process->pid())->parent, SIGKILL);
  unlucky.end();
  EXPECT_TRUE(carriers_of(unlucky.mark).empty());
  EXPECT_EQ(carriers_of(other.mark).size(), 4u);
  EXPECT_FALSE(other.process->wait(0ms));
}

// SHEPHERD_STOPS=1000 for the full figure.
TEST_P(NoSurvivor, Stops) {
  const char* given = std::getenv("SHEPHERD_STOPS");
  int stops = given != nullptr ? std::atoi(given) : 100;
  StopPlan plan = quick_plan();
  plan.close_wait = plan.terminate_wait = 5ms;
  std::vector<double> milliseconds;
  for (int i = 0; i < stops; ++i) {
    TestAgent agent({"stubborn"}, true, wanted());
    ASSERT_TRUE(agent.ready());
    auto began = std::chrono::steady_clock::now();
    agent.process->stop(plan);
    AgentEnd end = agent.end();
    milliseconds.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count());
    ASSERT_EQ(end.exit.signal, SIGKILL);
    ASSERT_GE(end.ended.size(), 4u);
    ASSERT_TRUE(carriers_of(agent.mark).empty()) << "stop " << i;
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  std::printf(
      "%d stops of 4 processes, with 10 ms of waiting on the rungs: median %.1f ms, p99 %.1f ms, most %.1f ms\n", stops,
      milliseconds[milliseconds.size() / 2], milliseconds[milliseconds.size() * 99 / 100], milliseconds.back());
}

}  // namespace
}  // namespace shepherd
