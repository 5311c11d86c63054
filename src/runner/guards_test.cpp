#include "runner/guards.h"

#include <gtest/gtest.h>

#include "driver/registry/registry.h"

namespace shepherd {
namespace {

Hints in_turn(Hints::Turn turn, std::size_t finished) {
  Hints hints;
  hints.turn = turn;
  hints.turns = finished;
  return hints;
}

TEST(Guards, TheTurnBeyondTheMaximumIsOneTooMany) {
  TaskOrder order;
  AgentTraits traits;
  auto breach = [&](const Hints& hints) { return breach_of(order, hints, traits, 0); };
  EXPECT_FALSE(breach(in_turn(Hints::Turn::running, 100))) << "no bound was asked for";
  order.max_turns = 2;
  EXPECT_FALSE(breach(in_turn(Hints::Turn::running, 1)));
  EXPECT_FALSE(breach(in_turn(Hints::Turn::idle, 2))) << "it does nothing more";
  ASSERT_TRUE(breach(in_turn(Hints::Turn::running, 2)));
  EXPECT_EQ(breach(in_turn(Hints::Turn::running, 2))->cause, EndCause::turns_used);
  EXPECT_TRUE(breach(in_turn(Hints::Turn::waiting, 2)));
  for (Means means : {Means::own, Means::none}) {
    traits.max_turns = means;
    EXPECT_FALSE(breach(in_turn(Hints::Turn::running, 2)));
  }
}

TEST(Guards, SaysWhichBoundsTheAgentDoesNotKeepItself) {
  TaskOrder order;
  auto remark = [&](std::string_view driver) { return remark_on_bounds(order, make_driver(driver)->traits()); };
  EXPECT_EQ(remark("acp"), "");
  order.max_turns = 3;
  order.budget_usd = 1;
  EXPECT_EQ(remark("claude"), "");
  EXPECT_NE(remark("codex").find("The runner stops it when it begins a turn after 3 turns"), std::string::npos);
  EXPECT_NE(remark("gemini-stream").find("only at its end, so the budget cannot be kept"), std::string::npos);
  EXPECT_NE(remark("text").find("the budget cannot be kept"), std::string::npos);
}

}  // namespace
}  // namespace shepherd
