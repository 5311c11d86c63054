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
  log.add(EventType::status, R"({"state":"starting","runner":"r1","leaseEpoch":2})", true);
  EXPECT_EQ(log.state.lease_epoch, 2U);
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

}  // namespace
}  // namespace shepherd
