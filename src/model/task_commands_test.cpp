#include "model/task_commands.h"

#include <gtest/gtest.h>

#include "model/limits.h"
#include "model/task_fold.h"

namespace shepherd {
namespace {

class Log {
 public:
  Log& add(EventType type, const std::string& data, bool by_server = false) {
    std::string body = R"("timestamp":"2026-02-18T14:00:00.000Z","type":"x","summary":"may I","data":)" + data;
    fold(state, {.sequence = state.last_sequence + 1,
                 .type = type,
                 .received_ms = 1'000,
                 .summary = "may I",
                 .body = body,
                 .by_server = by_server});
    return *this;
  }
  Log& command(const std::string& id, const std::string& members = "") {
    return add(EventType::command, R"({"id":")" + id + R"(","kind":"steer","by":"ada")" + members + "}");
  }
  Log& result(const std::string& id, const std::string& state_name, const std::string& reason = "") {
    return add(EventType::command_result,
               R"({"id":")" + id + R"(","state":")" + state_name + R"(","reason":")" + reason + "\"}");
  }
  TaskState state;
};

TEST(TaskCommands, FollowTheirResults) {
  Log log;
  log.command("a").command("b", R"(,"expiresSeconds":5)").result("a", "delivered").result("b", "refused", "odd");
  ASSERT_EQ(log.state.commands.size(), 2U);
  EXPECT_EQ(log.state.commands[0].state, CommandState::delivered);
  EXPECT_EQ(log.state.commands[0].by, "ada");
  EXPECT_EQ(log.state.commands[0].expires_ms, 61'000);
  EXPECT_EQ(log.state.commands[1].reason, "odd");
  EXPECT_EQ(log.state.commands[1].expires_ms, 6'000);
  log.result("b", "acknowledged").result("a", "accepted").result("nobody", "expired");
  EXPECT_EQ(log.state.commands[0].state, CommandState::delivered);
  EXPECT_EQ(log.state.commands[1].state, CommandState::refused) << "settled stays settled";
  EXPECT_EQ(log.state.state, State::queued) << "an operator's word starts nothing";
}

TEST(TaskCommands, DeliveredIsTheLastWordWhereMoreCannotBeSeen) {
  Log log;
  log.command("a").result("a", "delivered");
  EXPECT_TRUE(is_open(log.state, log.state.commands[0])) << "not known yet";
  log.add(EventType::status, R"({"state":"running","capabilities":{"commands":["steer"],"acknowledges":["stop"]}})");
  EXPECT_FALSE(is_open(log.state, log.state.commands[0]));
  EXPECT_TRUE(takes_command(log.state, CommandKind::steer));
  EXPECT_FALSE(takes_command(log.state, CommandKind::stop));
}

TEST(TaskCommands, TheEndSettlesThem) {
  Log log;
  log.command("a")
      .command("b")
      .result("b", "delivered")
      .add(EventType::approval, R"({"approvalID":"q","state":"open"})");
  ASSERT_EQ(log.state.approvals.size(), 1U);
  EXPECT_EQ(log.state.approvals[0].summary, "may I");
  log.add(EventType::status, R"({"state":"completed"})");
  EXPECT_EQ(log.state.commands[0].state, CommandState::refused);
  EXPECT_EQ(log.state.commands[0].reason, "task_ended");
  EXPECT_EQ(log.state.commands[1].state, CommandState::delivered);
  EXPECT_TRUE(log.state.approvals.empty());
  EXPECT_FALSE(is_open(log.state, log.state.commands[1]));
}

TEST(TaskCommands, OpenOnesAreNeverForgotten) {
  Log log;
  log.command("open");
  for (std::size_t i = 0; i < 3 * kMaxTaskCommands; ++i) {
    log.command("c" + std::to_string(i)).result("c" + std::to_string(i), "acknowledged");
  }
  EXPECT_EQ(log.state.commands.size(), kMaxTaskCommands);
  EXPECT_EQ(log.state.commands.front().id, "open");
  EXPECT_EQ(log.state.commands.back().id, "c" + std::to_string(3 * kMaxTaskCommands - 1));
}

TEST(TaskCommands, OnlyTheServerGivesLeases) {
  Log log;
  log.add(EventType::status, R"({"state":"starting","runner":"me","leaseEpoch":1})");
  EXPECT_EQ(log.state.lease_epoch, 0U);
  log.add(EventType::status, R"({"state":"starting","runner":"r1","leaseEpoch":57})", true);
  EXPECT_EQ(log.state.lease_epoch, 57U);
  EXPECT_EQ(log.state.runner, "r1");
}

TEST(TaskCommands, TheRunnerSaysHowTheAgentIsConfined) {
  Log log;
  log.add(EventType::status, R"({"state":"running","confined":"secrets"})");
  EXPECT_EQ(log.state.confined, "secrets");
  log.add(EventType::status, R"({"state":"running","confined":"in a cage"})")
      .add(EventType::status, R"({"confined":7})");
  EXPECT_EQ(log.state.confined, "secrets");
  EXPECT_EQ(decode_task_state(encode_task_state(log.state)).confined, "secrets");
}

TEST(TaskCommands, NonsenseInTheLogIsPassedOver) {
  Log log;
  log.add(EventType::command, "7").add(EventType::command, R"({"id":5,"kind":"steer"})");
  log.add(EventType::command, R"({"id":"x","kind":"dance"})").add(EventType::command_result, R"({"id":"x"})");
  log.add(EventType::approval, R"({"state":"open"})");
  log.add(EventType::status, R"({"capabilities":[]})");
  log.add(EventType::status, R"({"capabilities":{"big":")" + std::string(kMaxCapabilitiesBytes, 'x') + "\"}}");
  EXPECT_TRUE(log.state.commands.empty());
  EXPECT_TRUE(log.state.approvals.empty());
  EXPECT_EQ(log.state.capabilities_json, "");
}

TEST(TaskCommands, TheProjectionReadsBack) {
  Log log;
  log.add(EventType::status, R"({"state":"starting","runner":"r1","leaseEpoch":1})", true);
  log.add(EventType::status, R"({"state":"running","capabilities":{"commands":["steer"]}})");
  log.add(EventType::approval,
          R"({"approvalID":"q","state":"open","kind":"question","tool":"Ask","expiresAt":"2026-02-18T14:00:01Z"})");
  log.command("a", R"(,"approvalID":"q")").result("a", "refused", "odd");
  std::string text = encode_task_state(log.state);
  EXPECT_EQ(encode_task_state(decode_task_state(text)), text);
  EXPECT_NE(text.find(R"("expiresMS":1771423201000)"), std::string::npos) << text;
}

TEST(TaskCommands, WhatAnEarlierVersionWroteIsRead) {
  TaskState state = decode_task_state(
      R"({"state":"running","message":"m","firstSequence":1,"lastSequence":9,"errors":0,"toolCalls":2,)"
      R"("startedMS":5,"lastEventMS":6,"completedMS":0})");
  EXPECT_EQ(state.state, State::running);
  EXPECT_EQ(state.last_sequence, 9U);
  EXPECT_TRUE(state.commands.empty());
  EXPECT_EQ(state.lease_epoch, 0U);
  state = decode_task_state(R"({"state":"running","commands":7,"approvals":{},"capabilities":[],"claims":"x"})");
  EXPECT_TRUE(state.commands.empty());
}

TEST(TaskCommands, AreReadMemberByMember) {
  Log log;
  log.command("a", R"(,"approvalID":"q","expiresSeconds":999999999)").command("a", R"(,"approvalID":"other")");
  ASSERT_EQ(log.state.commands.size(), 1U) << "an id counts once";
  const TaskCommand command = log.state.commands[0];
  EXPECT_EQ(command.kind, CommandKind::steer);
  EXPECT_EQ(command.approval_id, "q");
  EXPECT_EQ(command.sequence, 1U);
  EXPECT_EQ(command.expires_ms, 1'000 + kMaxCommandExpirySeconds * 1'000) << "never later than it may";
  log.add(EventType::command, R"({"id":"s","kind":"stop"})");
  EXPECT_EQ(log.state.commands[1].kind, CommandKind::stop);
  EXPECT_EQ(find_command(log.state, "a"), &log.state.commands[0]);
  EXPECT_EQ(find_command(log.state, "b"), nullptr);
}

TEST(TaskCommands, OneThatItsRunnerHoldsDoesNotExpire) {
  Log log;
  log.command("a").result("a", "accepted", "at the next turn");
  EXPECT_EQ(log.state.commands[0].expires_ms, 0);
  EXPECT_EQ(log.state.commands[0].state, CommandState::accepted);
  EXPECT_EQ(log.state.commands[0].reason, "at the next turn");
  log.result("a", "delivered").result("a", "delivered", "again");
  EXPECT_EQ(log.state.commands[0].reason, "") << "the same state again says nothing new";
  log.command("b").result("b", "delivered");
  EXPECT_EQ(log.state.commands[1].expires_ms, 61'000);
}

TEST(TaskCommands, KeepAsManyAsTheBoundSays) {
  Log log;
  for (std::size_t i = 0; i < kMaxTaskCommands; ++i) {
    log.command("c" + std::to_string(i)).result("c" + std::to_string(i), "acknowledged");
  }
  EXPECT_EQ(log.state.commands.front().id, "c0");
  log.command("one more");
  EXPECT_EQ(log.state.commands.size(), kMaxTaskCommands);
  EXPECT_EQ(log.state.commands.front().id, "c1");
  Log open;
  for (std::size_t i = 0; i <= kMaxTaskCommands; ++i) open.command("c" + std::to_string(i));
  EXPECT_EQ(open.state.commands.size(), kMaxTaskCommands + 1);
}

TEST(TaskCommands, ApprovalsAreOpenUntilTheyAreSettled) {
  Log log;
  log.add(
      EventType::approval,
      R"({"approvalID":"a","state":"pending","kind":"permission","tool":"Bash","expiresAt":"1970-01-01T00:00:05Z"})");
  log.add(EventType::approval, R"({"approvalID":"b","state":"open"})");
  ASSERT_EQ(log.state.approvals.size(), 2U);
  EXPECT_EQ(log.state.approvals[0].kind, "permission");
  EXPECT_EQ(log.state.approvals[0].tool, "Bash");
  EXPECT_EQ(log.state.approvals[0].sequence, 1U);
  EXPECT_EQ(log.state.approvals[0].expires_ms, 5'000);
  EXPECT_EQ(log.state.approvals[1].expires_ms, 0);
  EXPECT_EQ(find_approval(log.state, "b"), &log.state.approvals[1]);
  EXPECT_EQ(find_approval(log.state, "c"), nullptr);
  log.add(EventType::approval, R"({"approvalID":"a","state":"open"})");
  EXPECT_EQ(log.state.approvals.back().id, "a") << "asked again, it is the newest";
  EXPECT_EQ(log.state.approvals.size(), 2U);
  log.add(EventType::approval, R"({"approvalID":"b","state":"approved"})");
  EXPECT_EQ(log.state.approvals.size(), 1U);

  Log many;
  for (std::size_t i = 0; i <= kMaxTaskApprovals; ++i) {
    EXPECT_EQ(many.state.approvals.size(), i);
    many.add(EventType::approval, R"({"approvalID":"a)" + std::to_string(i) + R"(","state":"open"})");
  }
  EXPECT_EQ(many.state.approvals.size(), kMaxTaskApprovals);
  EXPECT_EQ(many.state.approvals.front().id, "a1");
}

TEST(TaskCommands, TheToolOfAnApprovalIsTheEventsOrTheDatas) {
  TaskState state;
  std::string body = R"("tool":"Read","data":{"approvalID":"a","state":"open","tool":"Bash"})";
  fold(state, {.sequence = 1, .type = EventType::approval, .summary = "", .body = body});
  EXPECT_EQ(state.approvals.at(0).tool, "Read");
}

TEST(TaskCommands, AnAnswerCountsUnlessItCameToNothing) {
  Log log;
  auto answers = [&] {
    const TaskCommand* found = answer_to(log.state, "q");
    return found == nullptr ? std::string("none") : found->id;
  };
  log.command("other", R"(,"approvalID":"x")");
  EXPECT_EQ(answers(), "none");
  log.command("a", R"(,"approvalID":"q")");
  EXPECT_EQ(answers(), "a");
  log.result("a", "refused");
  EXPECT_EQ(answers(), "none");
  log.command("b", R"(,"approvalID":"q")").result("b", "expired");
  EXPECT_EQ(answers(), "none");
  log.command("c", R"(,"approvalID":"q")").result("c", "acknowledged");
  EXPECT_EQ(answers(), "c");
}

TEST(TaskCommands, CapabilitiesSayWhatIsTakenAndAcknowledged) {
  Log log;
  EXPECT_TRUE(takes_command(log.state, CommandKind::stop)) << "not known yet";
  log.command("a").result("a", "delivered");
  log.add(EventType::status, R"({"capabilities":{"commands":["steer"],"acknowledges":["steer"]}})");
  EXPECT_TRUE(is_open(log.state, log.state.commands[0])) << "its agent will say more";
  log.command("b");
  log.add(EventType::status, R"({"capabilities":{"commands":[],"acknowledges":[]}})");
  EXPECT_FALSE(is_open(log.state, log.state.commands[0]));
  EXPECT_TRUE(is_open(log.state, log.state.commands[1])) << "not delivered yet";
  std::string fits = R"({"x":")" + std::string(kMaxCapabilitiesBytes - 8, 'x') + "\"}";
  log.add(EventType::status, R"({"capabilities":)" + fits + "}");
  EXPECT_EQ(log.state.capabilities_json, fits);
}

TEST(TaskCommands, ClaimsAreCountedAndNameTheirLease) {
  Log log;
  log.add(EventType::status, R"({"state":"starting","runner":"r1","leaseEpoch":1})", true);
  log.add(EventType::status, R"({"state":"queued"})", true);
  EXPECT_EQ(log.state.lease_epoch, 1U);
  EXPECT_EQ(log.state.runner, "r1");
  log.add(EventType::status, R"({"state":"starting","runner":"r2","leaseEpoch":9})", true);
  EXPECT_EQ(log.state.claims, 2U);
  EXPECT_EQ(log.state.lease_epoch, 9U);
  EXPECT_EQ(log.state.runner, "r2");
  for (const char* how : {"none", "secrets", "workspace"}) {
    log.add(EventType::status, R"({"confined":")" + std::string(how) + "\"}");
    EXPECT_EQ(log.state.confined, how);
  }
}

}  // namespace
}  // namespace shepherd
