#include "driver/pending.h"

#include <gtest/gtest.h>

namespace shepherd {
namespace {

PendingAsk about(std::string call) {
  PendingAsk ask;
  ask.kind = PendingAsk::Kind::question;
  ask.tool = "Ask";
  ask.call_id = std::move(call);
  return ask;
}

TEST(PendingAsks, AnAskIsClosedOnce) {
  PendingAsks asks;
  EXPECT_EQ(asks.first(), "");
  asks.open("r1", about("c1"));
  asks.open("r2", about("c2"));
  EXPECT_EQ(asks.of_call("c2"), "r2");
  EXPECT_EQ(asks.of_call("c3"), "");
  ASSERT_NE(asks.find("r1"), nullptr);
  EXPECT_EQ(asks.close("r1")->call_id, "c1");
  EXPECT_FALSE(asks.close("r1"));
  EXPECT_EQ(asks.first(), "r2");
  EXPECT_FALSE(asks.empty());
}

TEST(PendingAsks, ADecisionIsSettledByItsCall) {
  PendingAsks asks;
  asks.decided("", "nobody");
  EXPECT_FALSE(asks.take_decision("")) << "an ask that is about no call is settled by nothing";
  asks.decided("c1", "first");
  asks.decided("c1", "second");
  EXPECT_EQ(asks.take_decision("c1"), "second");
  EXPECT_FALSE(asks.take_decision("c1"));
}

TEST(PendingAsks, HowOneEnded) {
  EXPECT_EQ(closed_ask_data("r", about("c"), "denied", ""),
            R"({"approvalID":"r","state":"denied","kind":"question","tool":"Ask"})");
  EXPECT_EQ(closed_ask_data("r", about("c"), "denied", "no"),
            R"({"approvalID":"r","state":"denied","kind":"question","tool":"Ask","message":"no"})");
}

}  // namespace
}  // namespace shepherd
