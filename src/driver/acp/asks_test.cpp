#include <gtest/gtest.h>

#include "driver/acp/test_play.h"
#include "driver/test_review.h"

namespace shepherd {
namespace {

AcpPlay asking() {
  return AcpPlay(read_recording("acp", "acp-claude-02-cancel.jsonl"));
}

// As Qwen Code asks: two ways to allow it once.
constexpr std::string_view kTwoWays =
    R"({"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"sessionId":"s",)"
    R"("toolCall":{"toolCallId":"c1","kind":"edit","title":"a.txt","rawInput":{"path":"a.txt"}},)"
    R"("options":[{"optionId":"proceed_once","name":"Allow","kind":"allow_once"},)"
    R"({"optionId":"modify","name":"Allow with changes","kind":"allow_once"},)"
    R"({"optionId":"proceed_always","name":"Always allow","kind":"allow_always"},)"
    R"({"optionId":"no","name":"Reject","kind":"reject_once"}]}})";

TEST(AcpOptions, EachOptionIsPublishedAndCanBeChosen) {
  struct Case {
    std::string_view kind, option, chosen;
  };
  for (const Case& each : {Case{"approve", "modify", "modify"}, Case{"approve", "Allow with changes", "modify"},
                           Case{"approve", "proceed_once", "proceed_once"},
                           Case{"approve", "Always allow", "proceed_always"}, Case{"deny", "no", "no"}}) {
    AcpPlay play = asking();
    play.start();
    play.until("Starting.");
    play.driver.record(kTwoWays, play.now, play.out);
    std::string options;
    for (const DriverEvent& event : play.out.events()) {
      if (event.type == EventType::approval) options = find_member(data_of(event), "options");
    }
    EXPECT_EQ(options, R"([{"id":"proceed_once","name":"Allow","kind":"allow_once"},)"
                       R"({"id":"modify","name":"Allow with changes","kind":"allow_once"},)"
                       R"({"id":"proceed_always","name":"Always allow","kind":"allow_always"},)"
                       R"({"id":"no","name":"Reject","kind":"reject_once"}])");
    std::string answer = play.say(R"({"id":"a","kind":")" + std::string(each.kind) + R"(","approvalID":")" +
                                  play.last_approval() + R"(","option":")" + std::string(each.option) + "\"}");
    EXPECT_EQ(answer, R"({"jsonrpc":"2.0","id":7,"result":{"outcome":{"outcome":"selected","optionId":")" +
                          std::string(each.chosen) + "\"}}}\n");
  }
}

TEST(AcpOptions, OneThatIsNotThereOrSaysTheOppositeIsRefused) {
  AcpPlay play = asking();
  play.start();
  play.until("Starting.");
  play.driver.record(kTwoWays, play.now, play.out);
  auto refused = [&](std::string_view id, std::string_view kind, std::string_view option) {
    EXPECT_EQ(play.say(R"({"id":")" + std::string(id) + R"(","kind":")" + std::string(kind) + R"(","approvalID":")" +
                       play.last_approval() + R"(","option":")" + std::string(option) + "\"}"),
              "");
    EXPECT_EQ(play.settled(id), "refused");
    return play.why(id);
  };
  EXPECT_EQ(refused("a", "approve", "maybe"),
            "this approval has no option \"maybe\"; there are: proceed_once, modify, proceed_always, no");
  EXPECT_NE(refused("b", "approve", "no").find("deny with it"), std::string::npos);
  EXPECT_NE(refused("c", "deny", "modify").find("approve with it"), std::string::npos);
  EXPECT_EQ(play.driver.hints().turn, Hints::Turn::waiting) << "it is still open";
}

// As the protocol describes it: the agent's result is the terminal, and the client shows what it printed.
TEST(AcpTerminals, WhatACommandPrintedIsTheResultOfItsCall) {
  AcpPlay play = asking();
  play.start();
  play.until("Starting.");
  auto record = [&](std::string_view text) { play.driver.record(text, play.now, play.out); };
  auto answer = [&](auto result) {
    play.driver.answer({play.out.of<HostCall>().back().id, std::move(result)}, play.now, play.out);
  };
  record(R"({"jsonrpc":"2.0","id":8,"method":"terminal/create","params":{"sessionId":"s","command":"make"}})");
  answer(TerminalStarted{"t1"});
  record(
      R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c1","kind":"execute","title":"make","status":"in_progress","content":[{"type":"terminal","terminalId":"t1"}]}}})");
  record(R"({"jsonrpc":"2.0","id":9,"method":"terminal/wait_for_exit","params":{"sessionId":"s","terminalId":"t1"}})");
  answer(TerminalState{"all 7 tests passed\n", false, false, 0, {}});
  record(R"({"jsonrpc":"2.0","id":10,"method":"terminal/release","params":{"sessionId":"s","terminalId":"t1"}})");
  answer(HostDone{});
  record(
      R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed"}}})");
  const DriverEvent& result = play.out.events().back();
  ASSERT_EQ(result.type, EventType::tool_result);
  EXPECT_EQ(text_member(result.json, "summary"), "all 7 tests passed");
}

}  // namespace
}  // namespace shepherd
