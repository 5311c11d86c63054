#include "chat/context_plan.h"

#include <gtest/gtest.h>

#include <random>

#include "chat/chat_for_test.h"
#include "chat/limits.h"

namespace shepherd {
namespace {

TEST(ContextPlan, ReservesRoomForTheAnswer) {
  EXPECT_EQ(answer_reserve(8'192, 0, 0), 1'408);
  EXPECT_EQ(answer_reserve(32'768, 0, 0), 6'312);
  EXPECT_EQ(answer_reserve(1'000'000, 0, 0), 300'000) << "three fifths of half at most";
  EXPECT_EQ(answer_reserve(8'192, 0, 100), 100) << "what the model can say";
  EXPECT_EQ(answer_reserve(8'192, 500, 0), 500);
  EXPECT_EQ(answer_reserve(8'192, 1'000'000, 0), 4'096) << "an oversized wish is cut, not refused";
  EXPECT_EQ(answer_reserve(8'192, -1, 0), kLeastReserveTokens);
  EXPECT_EQ(answer_reserve(0, 0, 0), 0);
  EXPECT_EQ(answer_reserve(0, 70, 0), 70);
  EXPECT_EQ(answer_reserve(1, 0, 0), 0);
}

TEST(ContextPlan, LimitsTheAnswerToWhatIsFree) {
  EXPECT_EQ(answer_limit(8'192, 8'000, 0, 0), 192);
  EXPECT_EQ(answer_limit(8'192, 100, 0, 0), 1'408);
  EXPECT_EQ(answer_limit(8'192, 100, -1, 0), 8'092);
  EXPECT_EQ(answer_limit(8'192, 100, -1, 1'000), 1'000);
  EXPECT_EQ(answer_limit(8'192, 100, 50, 0), 50);
  EXPECT_EQ(answer_limit(8'192, 100, 1'000'000, 0), 8'092);
  EXPECT_EQ(answer_limit(8'192, 9'000, 50, 0), 1) << "never nothing";
  EXPECT_EQ(answer_limit(0, 100, 0, 0), 0) << "not sent";
  EXPECT_EQ(answer_limit(0, 100, -1, 0), 0);
  EXPECT_EQ(answer_limit(0, 100, 50, 0), 50);
}

TEST(ContextPlan, NoTextHasMoreTokensThanItsBound) {
  ModelMessage message;
  message.content = "four";
  message.reasoning = "six...";
  message.tool_calls = {{"id", "name", "{}"}};
  EXPECT_EQ(most_tokens(message), 4 + 6 + 8 + kMessageOverheadTokens);
  EXPECT_GE(most_tokens(message), estimated_tokens(message.content));
  EXPECT_EQ(estimated_tokens(""), 1);
  EXPECT_EQ(estimated_tokens("123456"), 3);
}

// A conversation as chats make it. `turn` is where the current turn begins.
struct Talk {
  std::vector<ChatMessage> messages;
  std::size_t turn = 0;
};

class TalkMaker {
 public:
  explicit TalkMaker(std::uint64_t seed) : random_(seed) {}

  Talk make() {
    std::size_t turns = random_() % 5;
    for (std::size_t i = 0; i < turns; ++i) {
      add_turn(i, random_() % 4 != 0);
    }
    talk_.turn = talk_.messages.size();
    if (random_() % 3 != 0) add_turn(turns, false);
    return std::move(talk_);
  }
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(bound));
  }

 private:
  void add(Role role, std::vector<ToolRequest> calls = {}, std::string answers = "") {
    ChatMessage& made = talk_.messages.emplace_back();
    made.sequence = sequence_ += 1 + random_() % 3;
    made.message.role = role;
    made.message.tool_calls = std::move(calls);
    made.message.tool_call_id = std::move(answers);
    made.tokens = below(50);
  }
  void add_turn(std::size_t number, bool answered) {
    add(Role::user);
    std::size_t groups = random_() % 4;
    for (std::size_t group = 0; group < groups; ++group) {
      std::vector<ToolRequest> calls(1 + random_() % 3);
      for (std::size_t i = 0; i < calls.size(); ++i) {
        calls[i].id = std::to_string(number) + "." + std::to_string(group) + "." + std::to_string(i);
      }
      add(Role::assistant, calls);
      for (const ToolRequest& call : calls) add(Role::tool, {}, call.id);
    }
    if (answered) add(Role::assistant);
  }

  std::mt19937_64 random_;
  Talk talk_;
  std::uint64_t sequence_ = 0;
};

void check_plan(std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  TalkMaker maker(seed);
  Talk talk = maker.make();
  std::int64_t needed = maker.below(400);
  Eviction plan = plan_eviction(talk.messages, talk.turn, needed);
  std::set<std::uint64_t> gone(plan.messages.begin(), plan.messages.end());
  ASSERT_EQ(gone.size(), plan.messages.size()) << "no message twice";

  std::vector<ModelMessage> left;
  std::int64_t freed = 0;
  bool front = true, inside = false;
  std::size_t groups_left = 0, groups = 0;
  for (std::size_t at = 0; at < talk.messages.size(); ++at) {
    const ChatMessage& each = talk.messages[at];
    bool evicted = gone.contains(each.sequence);
    if (evicted) {
      freed += std::max<std::int64_t>(each.tokens, 1);
    } else {
      left.push_back(each.message);
    }
    if (at < talk.turn) {
      ASSERT_TRUE(front || !evicted) << "oldest first, without a hole";
      front = evicted;
      continue;
    }
    if (each.message.role == Role::user) {
      ASSERT_FALSE(evicted) << "the current prompt stays";
    }
    if (each.message.role == Role::assistant) {
      ++groups;
      groups_left += evicted ? 0 : 1;
      ASSERT_TRUE(!evicted || groups_left == 0) << "the oldest group first";
    }
    inside = inside || evicted;
  }
  ASSERT_EQ(wrong_history(left), "");
  ASSERT_EQ(freed, plan.tokens);
  ASSERT_EQ(inside, plan.inside_turn);
  if (groups > 0) {
    ASSERT_GE(groups_left, 1U) << "the newest group stays";
  }
  if (inside) {
    ASSERT_TRUE(front || talk.turn == 0) << "all that is older went first";
  }
  // Enough, or all there is.
  bool all = (talk.turn == 0 || front) && groups_left <= 1;
  ASSERT_TRUE(plan.tokens >= needed || all);
  // It evicts no unit more than that.
  if (needed > 0 && plan.tokens >= needed) {
    Eviction less = plan_eviction(talk.messages, talk.turn, plan.tokens);
    ASSERT_EQ(less.messages, plan.messages);
  }
  if (needed <= 0) {
    ASSERT_TRUE(plan.messages.empty());
  }
}

TEST(ContextPlan, EvictsWholeUnitsOfAnyConversation) {
  std::uint64_t first = std::random_device{}();
  for (std::uint64_t seed = first; seed < first + 2'000; ++seed) {
    ASSERT_NO_FATAL_FAILURE(check_plan(seed));
  }
}

TEST(ContextPlan, EvictsNoMoreThanIsNeeded) {
  std::vector<ChatMessage> messages;
  for (int i = 0; i < 6; ++i) {
    ChatMessage& made = messages.emplace_back();
    made.sequence = static_cast<std::uint64_t>(i + 1);
    made.tokens = 10;
    made.message.role = i % 2 == 0 ? Role::user : Role::assistant;
  }
  EXPECT_EQ(plan_eviction(messages, 6, 1).messages, (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(plan_eviction(messages, 6, 20).messages, (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(plan_eviction(messages, 6, 21).messages, (std::vector<std::uint64_t>{1, 2, 3, 4}));
  EXPECT_EQ(plan_eviction(messages, 4, 1'000).messages, (std::vector<std::uint64_t>{1, 2, 3, 4}));
  messages.resize(2);
  EXPECT_TRUE(plan_eviction(messages, 0, 1'000).messages.empty()) << "the current prompt and the newest group stay";
}

}  // namespace
}  // namespace shepherd
