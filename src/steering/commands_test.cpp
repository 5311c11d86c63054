#include "steering/commands.h"

#include "model/limits.h"
#include "steering/limits.h"
#include "steering/steering_fixture.h"

namespace shepherd {
namespace {

using CommandsTest = SteeringFixture;

constexpr const char* kSteer = R"({"id":"c1","kind":"steer","content":"look at the tests first"})";
constexpr const char* kApproval =
    R"({"type":"approval","summary":"Needs approval: rm","tool":"Bash","data":{"approvalID":"a1","state":"open"}})";

TEST_F(CommandsTest, NobodyRunsIt) {
  create("t");
  EXPECT_EQ(outcome("t", kSteer), "refused/no_runner");
  EXPECT_EQ(log_of("t"), "command command_result") << "refused, and still in the log";
  EXPECT_EQ(state("t").commands.at(0).by, "ada");
}

TEST_F(CommandsTest, AFeedThatTakesCommandsIsSomebody) {
  create("t");
  steering_->command_takers().opened("t");
  EXPECT_EQ(outcome("t", kSteer), "accepted");
  steering_->command_takers().closed("t");
  EXPECT_EQ(outcome("t", R"({"id":"c2","kind":"interrupt"})"), "refused/no_runner");
}

// One connection may take the commands of many tasks or of all.
TEST_F(CommandsTest, AFeedOverAllLogsTakesEverybodysCommands) {
  create("t");
  steering_->command_takers().opened("");
  EXPECT_EQ(outcome("t", kSteer), "accepted");
  steering_->command_takers().closed("");
  EXPECT_EQ(outcome("t", R"({"id":"c2","kind":"interrupt"})"), "refused/no_runner");
}

// The process that had the feed was killed; the next one does not take its word for it.
TEST_F(CommandsTest, AFeedOfAKilledServerTakesNothing) {
  create("t");
  steering_->command_takers().opened("t");
  settle();
  EXPECT_EQ(journal_.store().leases(LeaseKind::taker)->size(), 1U);
  restart();
  EXPECT_EQ(outcome("t", kSteer), "refused/no_runner");
}

// The store could not take it at first, or lost it: an open feed goes on counting.
TEST_F(CommandsTest, AnOpenFeedStaysATaker) {
  create("t");
  fault_ = Fault::fail_before_commit;
  steering_->command_takers().opened("t");
  settle();
  fault_ = Fault::none;
  pass_ms(1'000);
  EXPECT_EQ(outcome("t", kSteer), "accepted");
  auto takers = store_.leases(LeaseKind::taker);
  ASSERT_TRUE(store_.write([&](WriteTxn& txn) { ASSERT_TRUE(txn.end_lease(takers->at(0).key)); }));
  pass_ms(kTakerSeconds * 1'000);
  EXPECT_EQ(outcome("t", R"({"id":"c2","kind":"steer","content":"x"})"), "accepted");
  pass_ms(5 * kTakerSeconds * 1'000);
  EXPECT_EQ(outcome("t", R"({"id":"c3","kind":"steer","content":"x"})"), "accepted") << "its lease is renewed";
}

TEST_F(CommandsTest, TheSameIdGetsTheSameAnswer) {
  create("t");
  steering_->command_takers().opened("t");
  auto first = submit("t", kSteer);
  auto again = submit("t", kSteer);
  ASSERT_TRUE(first && again);
  EXPECT_EQ(again->sequence, first->sequence);
  EXPECT_EQ(again->kind, CommandKind::steer);
  EXPECT_EQ(log_of("t"), "command");
  ASSERT_TRUE(post("t", R"({"type":"status","summary":"done","data":{"state":"completed"}})"));
  EXPECT_EQ(outcome("t", kSteer), "refused/task_ended") << "the end of the task settled it";
}

TEST_F(CommandsTest, TheSameIdWithOtherWordsIsRefused) {
  create("t");
  steering_->command_takers().opened("t");
  EXPECT_EQ(outcome("t", R"({"id":"c1","kind":"steer","content":"use password=Xk29vbQ1"})"), "accepted");
  EXPECT_EQ(outcome("t", R"({"id":"c1","kind":"stop"})"), "command_id_reused");
  EXPECT_EQ(outcome("t", R"({"id":"c1","kind":"steer","content":"do something else"})"), "command_id_reused");
  EXPECT_EQ(outcome("t", R"({"content":"use password=Xk29vbQ1","kind":"steer","id":"c1"})"), "accepted");
  EXPECT_EQ(log_of("t"), "command");
}

TEST_F(CommandsTest, AnIdIsMade) {
  create("t");
  auto submitted = submit("t", R"({"kind":"stop"})");
  ASSERT_TRUE(submitted);
  EXPECT_TRUE(submitted->id.starts_with("cmd-")) << submitted->id;
}

TEST_F(CommandsTest, IdsThatCannotBe) {
  create("t");
  EXPECT_EQ(outcome("t", R"({"id":"a b","kind":"stop"})"), "bad_command_id");
  EXPECT_EQ(outcome("t", R"({"id":")" + std::string(kMaxCommandIdBytes + 1, 'a') + R"(","kind":"stop"})"),
            "bad_command_id");
  EXPECT_EQ(outcome("t", R"({"id":"ghp_0123456789abcdefghijABCDEFGHIJ012345","kind":"interrupt"})"), "bad_command_id")
      << "what redaction would change names nothing";
  EXPECT_EQ(log_of("t"), "");
}

TEST_F(CommandsTest, ACommandThatCannotBeStoredNeedsNoTransaction) {
  create("t");
  std::uint64_t before = writes_;
  EXPECT_EQ(outcome("t", R"({"kind":"interrupt","id":"ghp_abcdefghijklmnopqrstuvwxyz0123456789"})"), "bad_command_id");
  EXPECT_EQ(writes_, before) << "redaction has no place on the writer's thread";
}

TEST_F(CommandsTest, AnEndedTaskTakesNone) {
  create("t");
  ASSERT_TRUE(post("t", R"({"type":"status","summary":"done","data":{"state":"completed"}})"));
  EXPECT_EQ(outcome("t", kSteer), "task_ended");
  EXPECT_EQ(outcome("nobody", kSteer), "unknown_task");
}

TEST_F(CommandsTest, StopOfAQueuedTaskCancelsIt) {
  create("t", R"(,"agent":"claude")");
  EXPECT_EQ(outcome("t", R"({"id":"s","kind":"stop","reason":"wrong branch"})"), "acknowledged");
  EXPECT_EQ(log_of("t"), "command command_result status");
  EXPECT_EQ(state("t").state, State::cancelled);
  EXPECT_TRUE(state("t").inferred_end);
  EXPECT_EQ(state("t").message, "stopped before it began: wrong branch");
  EXPECT_FALSE(*claim(runner("r1"))) << "nobody gets it any more";
}

TEST_F(CommandsTest, StopOfARunningTaskGoesToItsRunner) {
  create("t", R"(,"agent":"claude")");
  ASSERT_TRUE(*claim(runner("r1")));
  EXPECT_EQ(outcome("t", R"({"id":"s","kind":"stop"})"), "accepted");
  EXPECT_EQ(state("t").state, State::starting);
}

TEST_F(CommandsTest, WhatTheAgentCannotDo) {
  create("t");
  steering_->command_takers().opened("t");
  ASSERT_TRUE(post("t", R"({"type":"status","summary":"running","data":{"state":"running",)"
                        R"("capabilities":{"commands":["interrupt","stop"],"acknowledges":["stop"]}}})"));
  EXPECT_EQ(outcome("t", kSteer), "refused/unsupported");
  EXPECT_EQ(outcome("t", R"({"id":"i","kind":"interrupt"})"), "accepted");
}

TEST_F(CommandsTest, TheFirstAnswerWins) {
  create("t");
  steering_->command_takers().opened("t");
  EXPECT_EQ(outcome("t", R"({"id":"x","kind":"approve","approvalID":"a1"})"), "refused/approval_not_open");
  ASSERT_TRUE(post("t", kApproval));
  ASSERT_EQ(state("t").approvals.size(), 1U);
  EXPECT_EQ(state("t").approvals[0].tool, "Bash");
  EXPECT_EQ(outcome("t", R"({"id":"y","kind":"approve","approvalID":"a1"})"), "accepted");
  EXPECT_EQ(outcome("t", R"({"id":"n","kind":"deny","approvalID":"a1"})"), "refused/already_answered");
  // The runner could not use the first answer, so another one is accepted.
  ASSERT_TRUE(post("t", R"({"type":"command_result","data":{"id":"y","state":"refused","reason":"odd input"}})"));
  EXPECT_EQ(outcome("t", R"({"id":"n2","kind":"deny","approvalID":"a1"})"), "accepted");
  ASSERT_TRUE(post("t", R"({"type":"approval","data":{"approvalID":"a1","state":"denied"}})"));
  EXPECT_TRUE(state("t").approvals.empty());
  EXPECT_EQ(outcome("t", R"({"id":"n3","kind":"deny","approvalID":"a1"})"), "refused/already_answered");
}

// Two people click at the same moment: one commit has both answers, and the second sees the first.
TEST_F(CommandsTest, TheFirstAnswerWinsWithinOneCommit) {
  create("t");
  steering_->command_takers().opened("t");
  ASSERT_TRUE(post("t", kApproval));
  std::vector<std::string> answers;
  for (const char* command :
       {R"({"id":"n","kind":"deny","approvalID":"a1"})", R"({"id":"y","kind":"approve","approvalID":"a1"})"}) {
    steering_->commands().submit("t", *decode_command(command), [&](Result<Submitted> submitted) {
      ASSERT_TRUE(submitted) << submitted.error().message;
      answers.push_back(submitted->id + " " + std::string(name(submitted->state)) + " " + submitted->reason);
    });
  }
  ASSERT_TRUE(answers.empty()) << "nothing is committed yet";
  ASSERT_TRUE(journal_.step());
  EXPECT_EQ(answers, (std::vector<std::string>{"n accepted ", "y refused already_answered"})) << "one commit has both";
  settle();
  EXPECT_EQ(command_state_of("t", "y"), "refused/already_answered");
}

TEST_F(CommandsTest, SettlesAsTheRunnerSays) {
  create("t");
  steering_->command_takers().opened("t");
  submit("t", kSteer);
  ASSERT_TRUE(post("t", R"({"type":"command_result","data":{"id":"c1","state":"acknowledged"}})"));
  EXPECT_EQ(command_state_of("t", "c1"), "acknowledged");
  ASSERT_TRUE(post("t", R"({"type":"command_result","data":{"id":"c1","state":"delivered"}})"));
  EXPECT_EQ(command_state_of("t", "c1"), "acknowledged") << "a command never goes back";
}

TEST_F(CommandsTest, WhatNobodyTakesExpires) {
  create("t");
  steering_->command_takers().opened("t");
  submit("t", kSteer);
  submit("t", R"({"id":"c2","kind":"queue","content":"then this","expiresSeconds":5})");
  submit("t", R"({"id":"c3","kind":"queue","content":"and this"})");
  ASSERT_TRUE(post("t", R"({"type":"command_result","data":{"id":"c3","state":"delivered"}})"));
  pass_ms(5'000);
  EXPECT_EQ(command_state_of("t", "c2"), "expired");
  EXPECT_EQ(command_state_of("t", "c1"), "accepted");
  restart();
  pass_ms(55'000);
  EXPECT_EQ(command_state_of("t", "c1"), "expired") << "a restart does not forget";
  EXPECT_EQ(command_state_of("t", "c3"), "delivered") << "the agent has it";
  std::string log = log_of("t");
  pass_ms(120'000);
  EXPECT_EQ(log_of("t"), log) << "once";
}

// A message for the next turn may wait longer than a command that no runner takes.
TEST_F(CommandsTest, WhatARunnerHoldsDoesNotExpire) {
  create("t");
  steering_->command_takers().opened("t");
  submit("t", R"({"id":"q","kind":"queue","content":"then this"})");
  ASSERT_TRUE(post("t", R"({"type":"command_result","data":{"id":"q","state":"accepted","reason":"held"}})"));
  pass_ms(3'600'000);
  restart();
  pass_ms(3'600'000);
  EXPECT_EQ(command_state_of("t", "q"), "accepted/held");
  ASSERT_TRUE(post("t", R"({"type":"command_result","data":{"id":"q","state":"delivered"}})"));
  EXPECT_EQ(command_state_of("t", "q"), "delivered");
}

// A runner that returns together with the server must not get a message that is long out of date.
TEST_F(CommandsTest, WhatExpiredWhileTheServerWasAwayIsSettledBeforeAnybodyComes) {
  create("t");
  steering_->command_takers().opened("t");
  submit("t", kSteer);
  stop();
  clock_.advance_ms(60'000);
  auto opened = Steering::open({journal_, workers_, clock_, random_, metrics_, &redactor_}, config_);
  ASSERT_TRUE(opened);
  steering_ = std::move(*opened);
  EXPECT_EQ(command_state_of("t", "c1"), "expired");
}

TEST_F(CommandsTest, NotMoreThanSoManyAreOpen) {
  create("t");
  steering_->command_takers().opened("t");
  for (std::size_t i = 0; i < kMaxTaskCommands; ++i) {
    EXPECT_EQ(outcome("t", R"({"id":"n)" + std::to_string(i) + R"(","kind":"interrupt"})"), "accepted");
  }
  EXPECT_EQ(outcome("t", R"({"id":"more","kind":"interrupt"})"), "too_many_commands");
  ASSERT_TRUE(post("t", R"({"type":"command_result","data":{"id":"n7","state":"acknowledged"}})"));
  EXPECT_EQ(outcome("t", R"({"id":"more","kind":"interrupt"})"), "accepted");
  EXPECT_EQ(command_state_of("t", "n7"), "unknown") << "settled ones make room";
  EXPECT_EQ(outcome("t", R"({"id":"n7","kind":"interrupt"})"), "too_many_commands");
  ASSERT_TRUE(post("t", R"({"type":"command_result","data":{"id":"n8","state":"acknowledged"}})"));
  EXPECT_EQ(outcome("t", R"({"id":"n7","kind":"interrupt"})"), "command_id_used");
}

TEST_F(CommandsTest, SecretsInCommandsAreRedacted) {
  create("t");
  steering_->command_takers().opened("t");
  submit("t", R"({"id":"c","kind":"steer","content":"use ghp_0123456789abcdefghijABCDEFGHIJ012345"})");
  auto page = journal_.store().read("t", 0, {});
  EXPECT_EQ(page->batches.at(0)->bytes.find("ghp_0123"), std::string::npos) << page->batches[0]->bytes;
}

TEST_F(CommandsTest, AnApprovalWithADeadlineIsDenied) {
  create("t");
  steering_->command_takers().opened("t");
  std::string expires = format_timestamp(clock_.wall_ms() + 10'000);
  ASSERT_TRUE(
      post("t", R"({"type":"approval","summary":"may I","data":{"approvalID":"a1","state":"open","expiresAt":")" +
                    expires + "\"}}"));
  pass_ms(9'000);
  EXPECT_EQ(log_of("t"), "approval");
  restart();
  steering_->command_takers().opened("t");
  pass_ms(1'000);
  EXPECT_EQ(log_of("t"), "approval command");
  const TaskState now = state("t");
  EXPECT_EQ(now.commands.at(0).kind, CommandKind::deny);
  EXPECT_EQ(now.commands.at(0).by, "shepherd");
  EXPECT_EQ(now.commands.at(0).approval_id, "a1");
  EXPECT_EQ(outcome("t", R"({"id":"late","kind":"approve","approvalID":"a1"})"), "refused/already_answered");
  pass_ms(30'000);
  EXPECT_EQ(log_of("t"), "approval command command command_result") << "denied once";
}

TEST_F(CommandsTest, AnApprovalThatNobodyCanBeDeniedExpires) {
  create("t");
  std::string expires = format_timestamp(clock_.wall_ms() + 10'000);
  std::string asked = R"({"type":"approval","summary":"may I","data":{"approvalID":"a1","state":"open","expiresAt":")" +
                      expires + "\"}}";
  ASSERT_TRUE(post("t", asked));
  pass_ms(9'999);
  EXPECT_EQ(state("t").approvals.size(), 1U);
  pass_ms(1);
  EXPECT_EQ(log_of("t"), "approval approval");
  EXPECT_TRUE(state("t").approvals.empty());
  pass_ms(60'000);
  EXPECT_EQ(log_of("t"), "approval approval") << "once";

  create("left");
  steering_->command_takers().opened("left");
  ASSERT_TRUE(post("left", asked));
  pass_ms(10'000);
  EXPECT_EQ(log_of("left"), "approval command") << "somebody ran it then";
  pass_ms(kCommandExpirySeconds * 1'000);
  EXPECT_EQ(log_of("left"), "approval command command_result approval");
  EXPECT_TRUE(state("left").approvals.empty());
}

TEST_F(CommandsTest, ATaskThatItsRunnerShouldHaveEnded) {
  create("t", R"(,"timeout":100)");
  ASSERT_TRUE(post("t", R"({"type":"status","summary":"running","data":{"state":"running"}})"));
  pass_ms((100 + kTimeoutGraceSeconds) * 1'000 - 1);
  EXPECT_EQ(state("t").state, State::running);
  pass_ms(1);
  EXPECT_EQ(state("t").state, State::timed_out);
  EXPECT_TRUE(state("t").inferred_end);
}

constexpr const char* kHooks = R"(,"labels":{"source":"claude-hook"})";
constexpr std::int64_t kIdleMs = kSessionIdleSeconds * 1'000;

TEST_F(CommandsTest, ASessionThatFellSilentInATurnIsLost) {
  create("t", kHooks);
  pass_ms(kIdleMs - 1);
  ASSERT_TRUE(post("t", R"({"type":"tool_call","summary":"Running make"})"));
  pass_ms(kIdleMs - 1);
  EXPECT_EQ(state("t").state, State::running) << "it counts from its last word";
  pass_ms(1);
  EXPECT_EQ(state("t").state, State::failed);
  EXPECT_TRUE(state("t").error.starts_with("session lost")) << state("t").error;
  EXPECT_TRUE(state("t").inferred_end);
  std::string log = log_of("t");
  pass_ms(kIdleMs);
  EXPECT_EQ(log_of("t"), log) << "once";
}

TEST_F(CommandsTest, ASessionThatFellSilentBetweenTurnsIsOver) {
  create("t", kHooks);
  ASSERT_TRUE(post("t", R"({"type":"status","data":{"state":"waiting_for_input"}})"));
  restart();
  pass_ms(kIdleMs);
  EXPECT_EQ(state("t").state, State::completed) << "a restart does not forget";
}

TEST_F(CommandsTest, OnlySessionsOfHooksEndBySilence) {
  create("external");
  ASSERT_TRUE(post("external", R"({"type":"log","summary":"hello"})"));
  create("claimed", R"(,"agent":"claude","labels":{"source":"claude-hook"})");
  ASSERT_TRUE(claim(runner("r1", "claimed")));
  for (std::int64_t passed = 0; passed < 2 * kIdleMs; passed += kLeaseSeconds * 500) {
    pass_ms(kLeaseSeconds * 500);
    steering_->leases().touch("claimed");  // a lease has its own clock
  }
  EXPECT_EQ(state("external").state, State::running);
  EXPECT_EQ(state("claimed").state, State::starting);
}

TEST_F(CommandsTest, SilenceMayMeanNothing) {
  config_.session_idle_seconds = 0;
  restart();
  create("t", kHooks);
  pass_ms(2 * kIdleMs);
  EXPECT_EQ(state("t").state, State::queued);
}

}  // namespace
}  // namespace shepherd
