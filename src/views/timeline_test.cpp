#include "views/timeline.h"

#include "model/wire_json.h"
#include "store/memory/test_log.h"
#include "views/limits.h"

namespace shepherd {
namespace {

Result<Timeline> read_timeline(const EventStore& store, const std::string& task, std::size_t buckets) {
  TimelineScan scan(store, task);
  for (;;) {
    auto done = scan.step();
    if (!done) return fail(done.error());
    if (*done) return scan.timeline(buckets);
  }
}

class TimelineTest : public testing::Test {
 protected:
  void SetUp() override { log_.make_task("t"); }
  // Appends one event in one commit, `second` seconds after the hour.
  void at(int second, const std::string& type, const std::string& more = "") {
    std::string json = R"({"type":")" + type + R"(","timestamp":")" + format_timestamp(kHour + second * 1'000) +
                       R"(","summary":"at )" + std::to_string(second) + "\"" + more + "}";
    auto drafts = decode_events(json, Framing::json, Intake{.allow_reserved = true});
    ASSERT_TRUE(drafts) << drafts.error().message;
    log_.append("t", std::move(*drafts));
  }
  static constexpr std::int64_t kHour = 1'700'000'000'000;
  TestLog log_;
};

TEST_F(TimelineTest, AnEmptyLogHasNoBuckets) {
  auto timeline = read_timeline(log_.store, "t", 10);
  ASSERT_TRUE(timeline);
  EXPECT_TRUE(timeline->buckets.empty());
  EXPECT_EQ(timeline->last_sequence, 0U);
  EXPECT_EQ(read_timeline(log_.store, "nobody", 10).error().reason, "unknown_task");
}

TEST_F(TimelineTest, CountsEventsWhereTheyHappened) {
  at(0, "thinking");
  at(1, "error");
  at(50, "tool_call");
  at(40, "tool_result");  // the clock went back: shown no earlier than the event before
  at(99, "result");
  auto timeline = read_timeline(log_.store, "t", 10);
  ASSERT_TRUE(timeline);
  EXPECT_EQ(timeline->from_ms, kHour);
  EXPECT_EQ(timeline->to_ms, kHour + 99'000);
  EXPECT_EQ(timeline->first_sequence, 1U);
  EXPECT_EQ(timeline->last_sequence, 5U);
  ASSERT_EQ(timeline->buckets.size(), 10U);
  EXPECT_EQ(timeline->buckets[0].events, 2U);
  EXPECT_EQ(timeline->buckets[0].errors, 1U);
  EXPECT_EQ(timeline->buckets[0].first, 1U);
  EXPECT_EQ(timeline->buckets[2].first, 3U) << "an empty bucket leads to what comes next";
  EXPECT_EQ(timeline->buckets[5].events, 2U);
  EXPECT_EQ(timeline->buckets[5].first, 3U);
  EXPECT_EQ(timeline->buckets[9].events, 1U);
  EXPECT_EQ(timeline->buckets[9].first, 5U);
}

TEST_F(TimelineTest, OneMomentIsOneBucket) {
  at(3, "thinking");
  auto timeline = read_timeline(log_.store, "t", 4);
  ASSERT_TRUE(timeline);
  EXPECT_EQ(timeline->buckets[0].events, 1U);
  EXPECT_EQ(timeline->buckets[3].first, 1U);
}

TEST_F(TimelineTest, MarksWhatIsWorthJumpingTo) {
  at(0, "approval", R"(,"data":{"approvalID":"a","state":"pending"})");
  at(1, "command", R"(,"data":{"id":"c","kind":"approve","approvalID":"a"})");
  at(2, "approval", R"(,"data":{"approvalID":"a","state":"approved"})");
  at(3, "error");
  at(4, "result");
  auto timeline = read_timeline(log_.store, "t", 10);
  ASSERT_TRUE(timeline);
  std::string marks;
  for (const TimelineMark& mark : timeline->marks)
    marks += std::to_string(mark.sequence) + std::string(mark.kind) + " ";
  EXPECT_EQ(marks, "1approval 2command 4error 5result ");
}

TEST_F(TimelineTest, ErrorsComeBeforeCommandsWhenThereIsNoRoom) {
  for (std::size_t i = 0; i < kMaxTimelineMarks; ++i) at(static_cast<int>(i), "result");
  for (std::size_t i = 0; i < kMaxTimelineMarks - 1; ++i) at(1'000 + static_cast<int>(i), "error");
  auto timeline = read_timeline(log_.store, "t", 10);
  ASSERT_TRUE(timeline);
  ASSERT_EQ(timeline->marks.size(), kMaxTimelineMarks);
  EXPECT_EQ(timeline->marks[0].kind, "result");
  EXPECT_EQ(timeline->marks[1].kind, "error");
}

}  // namespace
}  // namespace shepherd
