#include "store/batch_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/limits.h"
#include "store/numbered_request_fixture.h"

namespace shepherd {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(BatchBuilder, OneRunForPostsThatMeetInOneCommit) {
  TaskHead head;
  NothingKnown known;
  BatchBuilder builder;
  auto add = [&](const AppendRequest& request) {
    auto plan = plan_append(head, request, known);
    ASSERT_TRUE(plan);
    builder.add(head, request, *plan);
  };
  add(numbered(ProducerKind::strict, {1}));
  add(numbered(ProducerKind::strict, {2, 3}));
  EXPECT_EQ(*builder.body_of_number("t", "p", 3), "\"n\":3");
  EXPECT_FALSE(builder.body_of_number("t", "p", 4));
  EXPECT_FALSE(builder.body_of_number("t", "q", 3));
  add(numbered(ProducerKind::none, {0}));
  add(numbered(ProducerKind::loose, {1, 3, 4}));
  AppendRequest server = numbered(ProducerKind::none, {0});
  server.by_server = true;
  add(server);

  std::uint64_t position = 100;
  auto batches = builder.take(position);
  ASSERT_EQ(batches.size(), 5u) << "strict 1-3, none, loose 1, loose 3-4, by the server";
  EXPECT_TRUE(builder.empty());
  EXPECT_EQ(position, 108u);
  EXPECT_EQ(batches[0].batch->size(), 3u);
  EXPECT_EQ(batches[0].batch->position, 101u);
  EXPECT_EQ(batches[0].producer_first, 1u);
  EXPECT_EQ(batches[3].producer_first, 3u);
  EXPECT_FALSE(batches[1].producer);
  EXPECT_TRUE(batches[4].batch->by_server);
  EXPECT_EQ(batches[4].batch->first, 8u);
}

class BatchBuilderTest : public ::testing::Test {
 protected:
  Appended add(const AppendRequest& request) {
    auto plan = plan_append(head_, request, known_);
    EXPECT_TRUE(plan);
    return plan ? builder_.add(head_, request, *plan) : Appended{};
  }
  static AppendRequest status(std::string_view state) {
    AppendRequest request;
    request.task = "t";
    add_draft(request, EventType::status, R"("data":{"state":")" + std::string(state) + R"("})");
    return request;
  }

  TaskHead head_;
  NothingKnown known_;
  BatchBuilder builder_;
  std::uint64_t position_ = 0;
};

TEST_F(BatchBuilderTest, SaysWhatWasAppended) {
  head_.state.last_sequence = 10;
  Appended appended = add(numbered(ProducerKind::strict, {1, 2}));
  EXPECT_EQ(appended.last_sequence, 12U);
  EXPECT_EQ(appended.producer_sequence, 2U);
  EXPECT_EQ(appended.added, 2U);
  appended = add(numbered(ProducerKind::none, {0}));
  EXPECT_EQ(appended.producer_sequence, 0U);
  appended = add(numbered(ProducerKind::loose, {0}));
  EXPECT_EQ(appended.producer_sequence, 0U) << "it has used no number";
  appended = add(numbered(ProducerKind::strict, {2}));
  EXPECT_EQ(appended.added, 0U);
  EXPECT_EQ(appended.last_sequence, 14U);
  EXPECT_EQ(appended.producer_sequence, 2U);
  EXPECT_EQ(head_.state.first_sequence, 11U);
}

TEST_F(BatchBuilderTest, WritesEventsAsTheirConsumersReadThem) {
  AppendRequest request = numbered(ProducerKind::strict, {1});
  request.received_ms = 1'771'423'200'123;
  add(request);
  add(numbered(ProducerKind::loose, {4}));
  auto batches = builder_.take(position_);
  ASSERT_EQ(batches.size(), 2U);
  EXPECT_THAT(std::string(batches[0].batch->event(0)), StartsWith(R"({"sequence":1,)"));
  EXPECT_THAT(std::string(batches[0].batch->event(0)), HasSubstr(R"("producer":"p")"));
  EXPECT_THAT(std::string(batches[0].batch->event(0)), HasSubstr(R"("n":1)"));
  EXPECT_THAT(std::string(batches[0].batch->event(0)), Not(HasSubstr("late")));
  EXPECT_THAT(std::string(batches[1].batch->event(0)), Not(HasSubstr("producer")));
  EXPECT_EQ(batches[0].batch->received_ms, 1'771'423'200'123);
  EXPECT_EQ(batches[0].first_received_ms, 1'771'423'200'123);
  EXPECT_EQ(batches[0].batch->types, std::vector{EventType::log});
  EXPECT_EQ(batches[0].batch->task, "t");
  EXPECT_EQ(head_.state.last_event_ms, 0) << "the second one came at 0";
}

TEST_F(BatchBuilderTest, FindsBodiesByNumberInEachOfItsBatches) {
  add(numbered(ProducerKind::loose, {5, 6, 9}));
  for (std::uint64_t number : {5U, 6U, 9U}) {
    EXPECT_EQ(builder_.body_of_number("t", "", number), "\"n\":" + std::to_string(number));
  }
  for (std::uint64_t number : {0U, 4U, 7U, 8U, 10U}) EXPECT_FALSE(builder_.body_of_number("t", "", number)) << number;
  EXPECT_FALSE(builder_.body_of_number("u", "", 5));
  add(numbered(ProducerKind::none, {0}));
  EXPECT_FALSE(builder_.body_of_number("t", "", 0));
  builder_.take(position_);
  EXPECT_FALSE(builder_.body_of_number("t", "", 5)) << "taken";
}

TEST_F(BatchBuilderTest, OneOfAnotherProducerBeginsABatch) {
  add(numbered(ProducerKind::strict, {1}));
  AppendRequest other = numbered(ProducerKind::strict, {2});
  other.producer.id = "q";
  head_.producers["q"].use(1);
  add(other);
  add(numbered(ProducerKind::strict, {2}));
  auto batches = builder_.take(position_);
  ASSERT_EQ(batches.size(), 3U);
  EXPECT_EQ(batches[1].producer, "q");
  EXPECT_EQ(batches[2].producer_first, 2U);
}

TEST_F(BatchBuilderTest, BatchesHaveABound) {
  AppendRequest request = numbered(ProducerKind::none, {});
  for (std::size_t i = 0; i < kMaxStoredBatchEvents; ++i) add_draft(request, EventType::log, "");
  add(request);
  add(numbered(ProducerKind::none, {0}));
  auto batches = builder_.take(position_);
  ASSERT_EQ(batches.size(), 2U);
  EXPECT_EQ(batches[0].batch->size(), kMaxStoredBatchEvents);

  const std::string half(kMaxStoredBatchBytes / 2, 'x');
  AppendRequest large = numbered(ProducerKind::none, {});
  for (int i = 0; i < 3; ++i) add_draft(large, EventType::log, half);
  add(large);
  batches = builder_.take(position_);
  ASSERT_EQ(batches.size(), 3U) << "two halves and what the server adds are too much";
  AppendRequest thirds = numbered(ProducerKind::none, {});
  for (int i = 0; i < 3; ++i) add_draft(thirds, EventType::log, half.substr(0, kMaxStoredBatchBytes / 3));
  add(thirds);
  EXPECT_EQ(builder_.take(position_).size(), 2U);
}

TEST_F(BatchBuilderTest, OnlyTheBatchThatEndsTheTaskSaysSo) {
  add(numbered(ProducerKind::strict, {1}));
  add(status("completed"));
  auto batches = builder_.take(position_);
  ASSERT_EQ(batches.size(), 2U);
  EXPECT_EQ(batches[0].batch->complete, "");
  EXPECT_THAT(batches[1].batch->complete, HasSubstr("completed"));
  EXPECT_THAT(batches[1].batch->complete, HasSubstr("\"t\""));
  EXPECT_THAT(batches[1].batch->complete, HasSubstr("2")) << "the last number";
}

TEST_F(BatchBuilderTest, LateBatchesAllSayThatTheTaskHasEnded) {
  AppendRequest lost = status("failed");
  lost.by_server = true;
  add(lost);
  builder_.take(position_);
  ASSERT_TRUE(head_.state.inferred_end);
  add(numbered(ProducerKind::loose, {1, 3}));
  auto batches = builder_.take(position_);
  ASSERT_EQ(batches.size(), 2U);
  for (const StoredBatch& each : batches) {
    EXPECT_THAT(each.batch->complete, HasSubstr("failed"));
    EXPECT_THAT(std::string(each.batch->event(0)), HasSubstr(R"("late":true)"));
  }
  EXPECT_THAT(batches[0].batch->complete, HasSubstr(R"("lastSequence":2)")) << "each as of its own end";
  EXPECT_THAT(batches[1].batch->complete, HasSubstr(R"("lastSequence":3)"));
  EXPECT_EQ(position_, 3U);
}

TEST_F(BatchBuilderTest, TasksHaveBatchesOfTheirOwn) {
  add(numbered(ProducerKind::none, {0}));
  TaskHead other;
  AppendRequest request = numbered(ProducerKind::none, {0, 0});
  request.task = "u";
  auto plan = plan_append(other, request, known_);
  ASSERT_TRUE(plan);
  builder_.add(other, request, *plan);
  add(numbered(ProducerKind::none, {0}));
  auto batches = builder_.take(position_);
  ASSERT_EQ(batches.size(), 2U) << "the third joins the first";
  EXPECT_EQ(batches[0].batch->size(), 2U);
  EXPECT_EQ(batches[1].batch->task, "u");
  EXPECT_EQ(batches[1].batch->position, 3U);
  EXPECT_EQ(position_, 4U);
}

}  // namespace
}  // namespace shepherd
