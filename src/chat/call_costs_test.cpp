// What calls cost whose end the model never sent.
#include <gtest/gtest.h>

#include "chat/chat_for_test.h"
#include "chat/turn.h"

namespace shepherd {
namespace {

class ChatCosts : public ::testing::Test {
 protected:
  ChatCosts() {
    world.price.as_of = "2026-11-01";
    world.price.input = world.price.output = 1'000.0;
  }
  ModelAnswer priced_answer(const std::string& text) {
    ModelAnswer answer = plain_answer(text);
    answer.usage.known = true;
    answer.usage.input = 1'000;
    return answer;
  }
  Conversation now() { return folded(log_of(store)); }

  MemoryStore store;
  ChatWorld world{store};
};

TEST_F(ChatCosts, ACancelledCallIsCountedAndUnpriced) {
  world.model.script.emplace_back(priced_answer("Hello"));
  world.ask("Hi");
  EXPECT_EQ(now().usage().api_calls, 1U);
  EXPECT_DOUBLE_EQ(now().usage().cost_usd, 1.0);
  EXPECT_TRUE(now().priced());
  world.ask("Go");
  world.model.say("Half");
  world.cancel();
  EXPECT_EQ(now().usage().api_calls, 2U);
  EXPECT_DOUBLE_EQ(now().usage().cost_usd, 1.0) << "what is known stays";
  EXPECT_FALSE(now().priced());
}

TEST_F(ChatCosts, ACallThatBrokeOffIsCountedAndOneThatNeverBeganIsNot) {
  world.ask("Go");
  world.model.end(fail(ErrorCode::unavailable, "model_unreachable", "no connection"));
  world.settle();
  EXPECT_EQ(now().usage().api_calls, 0U);
  EXPECT_TRUE(now().priced());
  world.ask("Again");
  world.model.say("Half");
  world.model.end(fail(ErrorCode::unavailable, "model_failed", "half"));
  world.settle();
  EXPECT_EQ(now().usage().api_calls, 1U);
  EXPECT_FALSE(now().priced());
}

}  // namespace
}  // namespace shepherd
