#include "runner/agent_run.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "json/scan.h"
#include "outbox/event_out.h"
#include "process/test_agents.h"

namespace shepherd {
namespace {

// A log that is a list.
class KeptEvents final : public EventOut {
 public:
  void add(std::string event_json) override {
    MutexLock lock(mutex_);
    events_.push_back(std::move(event_json));
  }
  void add_end(std::string event_json) override { add(std::move(event_json)); }
  void add_delta(std::string delta_json) override {
    MutexLock lock(mutex_);
    deltas_ += delta_json;
  }
  std::string deltas() const {
    MutexLock lock(mutex_);
    return deltas_;
  }
  std::vector<std::string> events() const {
    MutexLock lock(mutex_);
    return events_;
  }

 private:
  mutable Mutex mutex_;
  std::vector<std::string> events_ GUARDED_BY(mutex_);
  std::string deltas_ GUARDED_BY(mutex_);
};

std::string text_of(std::string_view event, std::string_view key) {
  return string_value(find_member(event, key)).value_or("");
}
std::string data_of(std::string_view event, std::string_view key) {
  return text_of(find_member(event, "data"), key);
}

class AgentRunTest : public ::testing::Test {
 protected:
  AgentRunTest() {
    directory_ = std::filesystem::temp_directory_path() / fresh_mark();
    std::filesystem::create_directories(directory_);
    order_.task = "t";
    order_.agent = "text";
    settings_.directory = directory_;
    settings_.environment = {"PATH=/usr/bin:/bin", "SHEPHERD_TEST_MARK=" + mark_};
    settings_.warden_program = MISBEHAVING_AGENT;
    settings_.ladder = quick_plan();
    RedactOptions redact;
    redact.secrets = {"a-very-secret-value"};
    redactor_ = std::make_unique<Redactor>(*Redactor::create(redact));
    events_ = std::make_unique<TaskEvents>(kept_, *redactor_, clock_);
    run_ = std::make_unique<AgentRun>(order_, *events_, clock_);
  }
  ~AgentRunTest() override {
    run_.reset();
    EXPECT_TRUE(carriers_of(mark_).empty()) << "somebody of the agent is left";
    std::filesystem::remove_all(directory_);
  }

  // Installs a program that is started as Claude Code would be, or an agent of ACP.
  void claude(const std::string& script) { install("claude", script); }
  void acp(const std::string& script) { install("acp", script); }
  void install(const std::string& driver, const std::string& script) {
    std::filesystem::path program = directory_ / "agent";
    std::ofstream(program) << "#!/bin/sh\n" << script;
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    order_.agent = driver;
    order_.description = "do it";
    settings_.program = program;
  }
  // A file that a script wrote.
  std::string read(const std::string& name) const {
    std::ifstream file(directory_ / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void shell(const std::string& script) { order_.command = {"sh", "-c", script}; }
  // Creates the file that a script waits for with `while [ ! -e NAME ]`.
  void touch(const std::string& name) const { std::ofstream(directory_ / name) << "now"; }
  // Returns all events of the run, in order.
  std::vector<std::string> delivered() const { return kept_.events(); }
  bool seen(const std::string& text) {
    return eventually([&] {
      for (const std::string& event : kept_.events()) {
        if (event.find(text) != std::string::npos) return true;
      }
      return false;
    });
  }
  static Command command(CommandKind kind) {
    Command made;
    made.id = "c-" + std::string(name(kind));
    made.kind = kind;
    return made;
  }

  std::string mark_ = fresh_mark();
  std::filesystem::path directory_;
  SystemClock clock_;
  KeptEvents kept_;
  TaskOrder order_;
  AgentSettings settings_;
  std::unique_ptr<Redactor> redactor_;
  std::unique_ptr<TaskEvents> events_;
  std::unique_ptr<AgentRun> run_;
};

TEST_F(AgentRunTest, ACommandFromStartToEnd) {
  shell("echo hello; printf last");
  AgentOutcome outcome = run_->run(settings_);
  EXPECT_EQ(outcome.state, State::completed);
  EXPECT_EQ(outcome.message, "last");
  ASSERT_TRUE(outcome.end);
  EXPECT_EQ(outcome.end->exit.code, 0);
  std::vector<std::string> events = delivered();
  ASSERT_GE(events.size(), 3u);
  EXPECT_EQ(data_of(events[0], "state"), "running");
  EXPECT_NE(events[0].find("\"capabilities\":{\"commands\":[\"interrupt\",\"resume\",\"stop\"]"), std::string::npos);
  EXPECT_EQ(text_of(events[1], "type"), "output");
  EXPECT_EQ(data_of(events[1], "text"), "hello\nlast");
}

TEST_F(AgentRunTest, SecretsAreReplacedBeforeTheyLeave) {
  shell("echo it is a-very-secret-value; echo a-very-secret-value >&2");
  run_->run(settings_);
  for (const std::string& event : delivered()) EXPECT_EQ(event.find("a-very-secret-value"), std::string::npos) << event;
}

TEST_F(AgentRunTest, WhatCannotStartFailsWithItsReason) {
  order_.command = {"no-such-program"};
  AgentOutcome outcome = run_->run(settings_);
  EXPECT_EQ(outcome.state, State::failed);
  EXPECT_EQ(outcome.message, "cannot run no-such-program: No such file or directory");
  EXPECT_FALSE(outcome.end);
  order_.agent = "nobody";
  AgentRun other(order_, *events_, clock_);
  EXPECT_EQ(other.run(settings_).message, "this runner knows no agent \"nobody\"");
}

TEST_F(AgentRunTest, AStopBeforeTheStartStartsNothing) {
  shell("echo never");
  run_->command(command(CommandKind::stop));
  run_->command(command(CommandKind::steer));
  AgentOutcome outcome = run_->run(settings_);
  EXPECT_EQ(outcome.state, State::cancelled);
  EXPECT_EQ(outcome.cause, EndCause::stopped);
  std::vector<std::string> events = delivered();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(data_of(events[0], "state"), "acknowledged");
  EXPECT_EQ(data_of(events[1], "state"), "refused");
}

TEST_F(AgentRunTest, StopsAnAgentThatIgnoresEverything) {
  order_.command = {MISBEHAVING_AGENT, "stubborn"};
  AgentOutcome outcome;
  std::thread thread([&] { outcome = run_->run(settings_); });
  EXPECT_TRUE(seen("ready"));
  run_->command(command(CommandKind::stop));
  thread.join();
  EXPECT_EQ(outcome.state, State::cancelled);
  ASSERT_TRUE(outcome.end);
  EXPECT_EQ(outcome.end->rung, StopRung::kill);
  EXPECT_GE(outcome.end->ended.size(), 4u);
  EXPECT_TRUE(seen("\"id\":\"c-stop\",\"state\":\"delivered\""));
}

TEST_F(AgentRunTest, PausesAndResumes) {
  shell("echo ready; while :; do echo tick; sleep 0.01; done");
  AgentOutcome outcome;
  std::thread thread([&] { outcome = run_->run(settings_); });
  EXPECT_TRUE(seen("tick"));
  run_->command(command(CommandKind::interrupt));
  EXPECT_TRUE(seen("\"state\":\"paused\""));
  EXPECT_TRUE(seen("\"id\":\"c-interrupt\",\"state\":\"delivered\""));
  run_->command(command(CommandKind::resume));
  EXPECT_TRUE(seen("\"id\":\"c-resume\",\"state\":\"delivered\""));
  run_->end(EndCause::shutdown, "");
  thread.join();
  EXPECT_EQ(outcome.state, State::cancelled);
  EXPECT_EQ(outcome.message, "the runner was stopped");
}

TEST_F(AgentRunTest, TooLongIsTimedOut) {
  shell("echo ready; exec sleep 600");
  order_.timeout_seconds = 1;
  AgentOutcome outcome = run_->run(settings_);
  EXPECT_EQ(outcome.state, State::timed_out);
  EXPECT_EQ(outcome.message, "timed out after 1 s");
}

TEST_F(AgentRunTest, SilenceIsToldAndNotEnded) {
  shell("echo ready; while [ ! -e go ]; do sleep 0.01; done; echo again");
  settings_.stall = 50ms;
  AgentOutcome outcome;
  std::thread thread([&] { outcome = run_->run(settings_); });
  EXPECT_TRUE(seen("\"stalled\":true"));
  touch("go");
  thread.join();
  EXPECT_EQ(outcome.state, State::completed);
  std::string all;
  for (const std::string& event : delivered()) all += event + "\n";
  std::size_t stalled = all.find("\"stalled\":true");
  std::size_t on = all.find("\"stalled\":false");
  EXPECT_NE(stalled, std::string::npos);
  EXPECT_NE(on, std::string::npos);
  EXPECT_LT(stalled, on);
}

TEST_F(AgentRunTest, CommandsAfterTheEndAreRefused) {
  shell("true");
  run_->run(settings_);
  run_->command(command(CommandKind::interrupt));
  EXPECT_TRUE(seen("the agent has ended"));
}

// Shell functions that speak enough of Claude's protocol: report that $line was read, that the agent begins, that a
// turn is over.
constexpr const char* kWords = R"sh(
heard() {
  uuid=$(printf '%s' "$line" | sed 's/.*"uuid":"\([^"]*\)".*/\1/')
  echo '{"type":"user","message":{"role":"user","content":"do it"},"isReplay":true,"session_id":"s","uuid":"'$uuid'"}'
}
begin() {
  echo '{"type":"system","subtype":"init","session_id":"s","model":"m","cwd":"/","tools":[],"permissionMode":"default"}'
}
turn_over() {
  echo '{"type":"result","subtype":"success","is_error":false,"result":"done","session_id":"s","num_turns":1,"total_cost_usd":0.5,"duration_ms":1,"usage":{},"modelUsage":{}}'
}
)sh";

// One turn; the program ends only when its input does.
const std::string kOneTurn = std::string(kWords) + "read -r line; heard; begin; turn_over; cat > /dev/null\n";

TEST_F(AgentRunTest, AnAgentThatIsDoneIsToldToGo) {
  claude(kOneTurn);
  AgentOutcome outcome = run_->run(settings_);
  EXPECT_EQ(outcome.state, State::completed) << outcome.message;
  EXPECT_EQ(outcome.message, "done");
  EXPECT_EQ(run_->hints().cost_usd, 0.5);
}

// Speaks enough of ACP for two turns, and ends the second one only when it is cancelled.
const std::string kTwoTurns = R"sh(
read -r line; echo '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{}}}'
read -r line; echo '{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}'
read -r line; echo '{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}'
read -r line; echo "$line" > second
read -r line; echo "$line" > third
echo '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"cancelled"}}'
cat > /dev/null
)sh";

TEST_F(AgentRunTest, ATurnBeyondTheMaximumIsInterruptedAndTheAgentIsStopped) {
  acp(kTwoTurns);
  order_.max_turns = 1;
  order_.timeout_seconds = 60;  // or it would wait forever
  Command more = command(CommandKind::queue);
  more.content = "and the tests";
  run_->command(more);
  AgentOutcome outcome = run_->run(settings_);
  EXPECT_EQ(outcome.state, State::failed);
  EXPECT_EQ(outcome.cause, EndCause::turns_used);
  EXPECT_EQ(outcome.message, "Reached the maximum number of turns: the task allows 1 turn");
  EXPECT_TRUE(seen("\"code\":\"max_turns\""));
  EXPECT_TRUE(seen("stops it when it begins a turn after 1 turn;"));
  EXPECT_NE(read("second").find("and the tests"), std::string::npos);
  EXPECT_NE(read("third").find("session/cancel"), std::string::npos);
}

TEST_F(AgentRunTest, TheLastTurnThatIsAllowedRunsToItsEnd) {
  acp(kTwoTurns);
  order_.max_turns = 1;
  AgentOutcome outcome = run_->run(settings_);
  EXPECT_EQ(outcome.state, State::completed) << outcome.message;
  EXPECT_EQ(outcome.cause, EndCause::none);
}

// An agent that tells tokens and no money: the prices of the configuration say when the budget is used up.
TEST_F(AgentRunTest, ABudgetIsKeptAtTheConfiguredPrices) {
  acp(R"sh(
read -r line; echo '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{}}}'
read -r line; echo '{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s","models":{"currentModelId":"m","availableModels":[{"modelId":"m","name":"M"}]}}}'
read -r line; echo '{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn","usage":{"inputTokens":1000,"outputTokens":1000}}}'
read -r line; read -r line; echo '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"cancelled"}}'
cat > /dev/null
)sh");
  order_.budget_usd = 0.005;
  order_.timeout_seconds = 60;  // or it would wait forever
  settings_.prices["m"] = {1.0, 9.0, {}, {}, "2026-11-01"};
  Command more = command(CommandKind::queue);
  more.content = "and the tests";
  run_->command(more);
  AgentOutcome outcome = run_->run(settings_);
  EXPECT_EQ(outcome.cause, EndCause::over_budget) << outcome.message;
  EXPECT_EQ(outcome.state, State::failed);
  EXPECT_TRUE(seen(R"("priced":{"asOf":"2026-11-01"})"));
  EXPECT_NEAR(run_->hints().cost_usd.value_or(0), 0.01, 1e-9);
}

TEST_F(AgentRunTest, ABudgetWithoutAPriceIsSaidToBeNone) {
  acp(R"sh(
read -r line; echo '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{}}}'
read -r line; echo '{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s","models":{"currentModelId":"m","availableModels":[{"modelId":"m","name":"M"}]}}}'
read -r line; echo '{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn","usage":{"inputTokens":1000,"outputTokens":1000}}}'
cat > /dev/null
)sh");
  order_.budget_usd = 0.01;
  EXPECT_EQ(run_->run(settings_).state, State::completed);
  EXPECT_TRUE(seen("The budget cannot be kept: the configuration's `prices` have no price for the model m"));
  EXPECT_TRUE(seen(R"("unpriced":true)"));
}

// A word that comes while the workspace is cloned waits for the agent.
TEST_F(AgentRunTest, WhatCanWaitIsHeldUntilTheAgentRuns) {
  claude(std::string(kWords) + "read -r line; heard; begin; read -r line; heard; turn_over; cat > /dev/null\n");
  order_.timeout_seconds = 20;  // or it would wait for the message forever
  Command steer = command(CommandKind::steer);
  steer.content = "and the tests";
  run_->command(steer);
  Command expired = command(CommandKind::queue);
  expired.content = "too late";
  run_->command(expired);
  run_->withdraw(expired.id);
  run_->command(command(CommandKind::interrupt));
  AgentOutcome outcome = run_->run(settings_);
  EXPECT_EQ(outcome.state, State::completed) << outcome.message;
  std::string settled;
  for (const std::string& event : delivered()) {
    if (text_of(event, "type") != "command_result") continue;
    settled += data_of(event, "id") + " " + data_of(event, "state") + " " + data_of(event, "reason") + "\n";
  }
  EXPECT_EQ(settled,
            "c-steer accepted held until the agent runs\n"
            "c-queue accepted held until the agent runs\n"
            "c-interrupt refused the agent is not running yet\n"
            "c-steer delivered \n"
            "c-steer acknowledged \n");
}

// An agent that asks its machine for something must not wait forever.
TEST_F(AgentRunTest, WhatTheMachineDoesNotHaveIsAnswered) {
  claude(std::string(kWords) +
         "read -r line; heard; begin\n"
         "echo '{\"type\":\"control_request\",\"request_id\":\"r1\",\"request\":{\"subtype\":\"fs_read\"}}'\n"
         "read -r line; echo \"$line\" > answer; turn_over; cat > /dev/null\n");
  order_.timeout_seconds = 20;
  EXPECT_EQ(run_->run(settings_).state, State::completed);
  std::string answer;
  std::getline(std::ifstream(directory_ / "answer") >> std::ws, answer);
  EXPECT_EQ(answer,
            R"({"type":"control_response","response":{"subtype":"error","request_id":"r1","error":"not supported"}})");
}

TEST_F(AgentRunTest, WhatIsHeldForAnAgentThatNeverRunsIsRefused) {
  run_->command(command(CommandKind::steer));
  run_->never_started("the repository could not be cloned");
  EXPECT_TRUE(seen("\"id\":\"c-steer\",\"state\":\"refused\",\"reason\":\"the agent has ended\""));
}

// A machine can take its time to start a program. Operators and the keeper of leases must not wait for that.
TEST_F(AgentRunTest, NothingWaitsWhileTheAgentIsBeingStarted) {
  claude(kOneTurn);
  std::filesystem::path warden = directory_ / "warden";
  std::string asked = (directory_ / "asked").string();
  std::string go = (directory_ / "go").string();
  std::ofstream(warden) << "#!/bin/sh\n: > " << asked << "; while [ ! -e " << go << " ]; do sleep 0.01; done\nexec "
                        << MISBEHAVING_AGENT << " \"$@\"\n";
  std::filesystem::permissions(warden, std::filesystem::perms::owner_all);
  settings_.warden_program = warden;
  AgentOutcome outcome;
  std::thread thread([&] { outcome = run_->run(settings_); });
  EXPECT_TRUE(eventually([&] { return std::filesystem::exists(asked); }));
  std::atomic<bool> answered = false;
  std::thread asking([&] {
    run_->command(command(CommandKind::interrupt));
    run_->hints();
    run_->end(EndCause::lease_lost, "another runner has it");
    run_->kill();
    answered = true;
  });
  EXPECT_TRUE(eventually([&] { return answered.load(); }));
  touch("go");
  asking.join();
  thread.join();
  EXPECT_EQ(outcome.cause, EndCause::lease_lost) << outcome.message;
  ASSERT_TRUE(outcome.end);
  EXPECT_EQ(outcome.end->rung, StopRung::kill) << "it started all the same, and was ended at once";
}

// For an agent that is too old to queue, the runner holds messages for the next turn until the turn is over or they
// expire.
TEST_F(AgentRunTest, AWithdrawnCommandIsNeverGivenToTheAgent) {
  claude(std::string(kWords) + R"sh(
read -r line; heard; begin
while [ ! -e go ]; do sleep 0.01; done
turn_over
while read -r line; do printf '%s\n' "$line" >> told; heard; turn_over; done
)sh");
  AgentOutcome outcome;
  std::thread thread([&] { outcome = run_->run(settings_); });
  ASSERT_TRUE(seen("session_start"));
  for (const char* id : {"too-late", "in-time"}) {
    Command next = command(CommandKind::queue);
    next.id = id;
    next.content = std::string("do this ") + id;
    run_->command(next);
  }
  EXPECT_TRUE(seen("held for the next turn"));
  run_->withdraw("too-late");
  touch("go");
  thread.join();
  EXPECT_EQ(outcome.state, State::completed) << outcome.message;
  std::ifstream file(directory_ / "told");
  std::string told((std::istreambuf_iterator<char>(file)), {});
  EXPECT_NE(told.find("do this in-time"), std::string::npos) << told;
  EXPECT_EQ(told.find("do this too-late"), std::string::npos) << told;
}

TEST_F(AgentRunTest, AnAgentThatIgnoresTheEndOfItsInputHasStillDoneItsWork) {
  claude(std::string("trap '' INT TERM\n") + kOneTurn + "while :; do sleep 1; done\n");
  settings_.end_wait = 1ms;
  AgentOutcome outcome = run_->run(settings_);
  EXPECT_EQ(outcome.state, State::completed) << outcome.message;
  EXPECT_EQ(outcome.message, "done");
  EXPECT_EQ(outcome.cause, EndCause::none);
  ASSERT_TRUE(outcome.end);
  EXPECT_EQ(outcome.end->exit.signal, SIGKILL);
  EXPECT_TRUE(seen("The agent ignored the end of its input and was ended by the runner (SIGKILL)"));
}

TEST_F(AgentRunTest, ACrashIsCalledOne) {
  claude("kill -SEGV $$");
  AgentOutcome outcome = run_->run(settings_);
  EXPECT_EQ(outcome.state, State::failed);
  EXPECT_EQ(outcome.message, "the agent crashed (SIGSEGV)");
}

TEST_F(AgentRunTest, ACrashAfterAGoodTurnIsStillACrash) {
  claude(kOneTurn + "echo 'free(): invalid pointer' >&2; kill -ABRT $$");
  AgentOutcome outcome = run_->run(settings_);
  EXPECT_EQ(outcome.state, State::failed);
  EXPECT_EQ(outcome.message, "the agent crashed (SIGABRT): free(): invalid pointer");
}

TEST_F(AgentRunTest, AKillFromOutsideIsNeitherACrashNorOurs) {
  claude("kill -KILL $$");
  EXPECT_EQ(run_->run(settings_).message, "the agent was killed from outside (SIGKILL)");
}

TEST_F(AgentRunTest, TheVersionIsToldAndDecidesTheFormat) {
  claude(kOneTurn);
  settings_.version = "1.0.40 (Claude Code)";
  EXPECT_EQ(run_->run(settings_).state, State::completed);
  EXPECT_TRUE(seen("\"agentVersion\":\"1.0.40 (Claude Code)\""));
  EXPECT_TRUE(seen("it was started with stream-json-one-way"));
}

TEST_F(AgentRunTest, AnOptionThatTheProgramDoesNotKnowIsLeftOut) {
  claude(std::string("case \"$*\" in *--forward-subagent-text*) echo \"error: unknown option "
                     "'--forward-subagent-text'\" >&2; exit 1;; esac\n") +
         kOneTurn);
  AgentOutcome outcome = run_->run(settings_);
  EXPECT_EQ(outcome.state, State::completed) << outcome.message;
  EXPECT_TRUE(seen("does not know --forward-subagent-text; starting it again without"));
  EXPECT_TRUE(seen("\"steer\"")) << "and it can still be steered";
}

// Neither half would match as a secret on its own.
TEST_F(AgentRunTest, ASecretThatIsStreamedInTwoPiecesIsReplaced) {
  events_->delta({"m:0", "it is a-very-"});
  events_->delta({"m:0", "secret-value"});
  events_->delta({"m:0", ", and it stays so"});
  events_->delta({"m:1", "another block"});
  DriverEvent words;
  words.type = EventType::thinking;
  words.json = R"({"type":"thinking","summary":"another block"})";
  events_->add(words);
  EXPECT_TRUE(eventually([&] { return kept_.deltas().find("another block") != std::string::npos; })) << kept_.deltas();
  EXPECT_EQ(kept_.deltas().find("a-very-"), std::string::npos) << kept_.deltas();
  EXPECT_EQ(kept_.deltas().find("secret-value"), std::string::npos) << kept_.deltas();
  EXPECT_NE(kept_.deltas().find("it is [redacted:secret:19], and it stays so"), std::string::npos) << kept_.deltas();
}

TEST_F(AgentRunTest, StartsAgainInASimplerFormat) {
  claude(std::string("case \"$*\" in *--input-format*) echo \"error: unknown option '--input-format'\" >&2; exit 1;; "
                     "esac\n") +
         kOneTurn);
  AgentOutcome outcome = run_->run(settings_);
  EXPECT_EQ(outcome.state, State::completed) << outcome.message;
  EXPECT_TRUE(seen("starting it again with output format stream-json-one-way"));
}

}  // namespace
}  // namespace shepherd
