#include "hub/tail.h"

#include <gtest/gtest.h>

#include "base/limits.h"
#include "base/manual_executor.h"
#include "hub/hub.h"
#include "hub/limits.h"
#include "hub/test_frames.h"

namespace shepherd {
namespace {

constexpr EventType kLog = EventType::log;
constexpr EventType kCall = EventType::tool_call;
constexpr std::size_t kPlenty = 1 * kMiB;

class Waiter : public TailWaiter {
 public:
  void on_wake() override { ++woken; }
  int woken = 0;
};

class TailTest : public testing::Test {
 protected:
  std::string pull(std::uint64_t after, const Selection* selection = nullptr, Waiter* waiter = nullptr) {
    std::vector<ByteSpan> spans;
    last_ = tail_->pull({&frames_, after, selection, nullptr, kPlenty}, spans, waiter, &io_);
    return text_of(spans);
  }
  void publish(std::uint64_t first, const std::vector<EventType>& types) {
    tail_->publish(make_batch("t", first, first, types), wake_);
  }
  bool drain(std::size_t most = 100) { return tail_->drain(&io_, most); }
  std::shared_ptr<Tail> tail_ = std::make_shared<Tail>("t", 10);
  TextFrames frames_;
  ManualExecutor io_;
  std::vector<Executor*> wake_;
  Pull last_;
};

TEST_F(TailTest, KnowsNothingBeforeTheFirstRun) {
  pull(0);
  EXPECT_EQ(last_.what, Pull::What::behind);
}

TEST_F(TailTest, GivesWhatFollowsTheCursor) {
  publish(1, {kLog, kLog});
  publish(3, {kLog});
  EXPECT_EQ(pull(0), "e1 e2 e3 ");
  EXPECT_EQ(pull(2), "e3 ");
  EXPECT_TRUE(last_.at_end);
  EXPECT_EQ(pull(3), "");
  EXPECT_EQ(last_.what, Pull::What::nothing);
}

TEST_F(TailTest, IgnoresRepeatsAndOverlaps) {
  publish(1, {kLog, kLog});
  publish(1, {kLog, kLog});
  publish(2, {kLog, kLog});
  EXPECT_EQ(pull(0), "e1 e2 e3 ");
}

TEST_F(TailTest, AHoleRestartsIt) {
  publish(1, {kLog});
  publish(5, {kLog});
  pull(1);
  EXPECT_EQ(last_.what, Pull::What::behind);
  EXPECT_EQ(pull(4), "e5 ");
}

TEST_F(TailTest, DropsTheOldestBeyondItsBound) {
  for (std::uint64_t n = 1; n <= 40; ++n) publish(n, {kLog});
  pull(0);
  EXPECT_EQ(last_.what, Pull::What::behind);
  EXPECT_EQ(pull(38), "e39 e40 ");
}

TEST_F(TailTest, FramesAgainForAConsumerThatIsFurtherBack) {
  for (std::uint64_t n = 1; n <= 6; ++n) publish(n, {kLog});
  EXPECT_EQ(pull(4), "e5 e6 ");
  EXPECT_EQ(pull(1), "e2 e3 e4 e5 e6 ");
}

TEST_F(TailTest, ManySegmentsArriveInOrderAndBounded) {
  std::string big(20 * kKiB, 'x');
  tail_ = std::make_shared<Tail>("t", 1000);
  class BigFrames final : public FrameEncoder {
   public:
    void event(std::string& out, const EventBatch& batch, std::size_t i) const override { out += batch.event(i); }
    void gap(std::string&, std::string_view, std::uint64_t, std::uint64_t) const override {}
    void caught_up(std::string&, std::string_view, std::uint64_t) const override {}
    void position(std::string&, std::string_view, std::uint64_t) const override {}
    void delta(std::string&, std::string_view, std::string_view) const override {}
    void complete(std::string&, std::string_view, std::string_view, std::uint64_t) const override {}
  } frames;
  std::string expected;
  for (std::uint64_t n = 1; n <= 30; ++n) {
    auto batch = make_batch("t", n, n, {kLog}, big);
    expected += batch->bytes;
    tail_->publish(batch, wake_);
  }
  std::string got;
  std::uint64_t after = 0;
  int pulls = 0;
  while (after < 30) {
    std::vector<ByteSpan> spans;
    auto pulled = tail_->pull({&frames, after, nullptr, nullptr, 100 * kKiB}, spans, nullptr, &io_);
    got += text_of(spans);
    after = pulled.number;
    ++pulls;
  }
  EXPECT_EQ(got, expected);
  EXPECT_GT(pulls, 3);
}

TEST_F(TailTest, WakesAWaiterOnce) {
  publish(1, {kLog});
  Waiter waiter;
  EXPECT_EQ(pull(1, nullptr, &waiter), "");
  wake_.clear();
  publish(2, {kLog});
  publish(3, {kLog});
  EXPECT_EQ(wake_.size(), 1U) << "one drain serves both batches";
  drain();
  EXPECT_EQ(waiter.woken, 1);
  tail_->leave(waiter);
}

TEST_F(TailTest, AServedWaiterComesAfterThoseStillToBeServed) {
  publish(1, {kLog});
  Waiter first, second;
  pull(1, nullptr, &second);
  pull(1, nullptr, &first);
  wake_.clear();
  publish(2, {kLog});
  EXPECT_TRUE(drain(1)) << "one of two";
  Waiter& served = first.woken == 1 ? first : second;
  Waiter& other = first.woken == 1 ? second : first;
  EXPECT_EQ(pull(2, nullptr, &served), "");
  publish(3, {kLog});
  EXPECT_EQ(wake_.size(), 1U) << "the drain that is under way serves this batch too";
  EXPECT_TRUE(drain(1));
  EXPECT_EQ(other.woken, 1);
  EXPECT_FALSE(drain());
  EXPECT_EQ(served.woken, 2);
  publish(4, {kLog});
  EXPECT_EQ(wake_.size(), 1U) << "nobody waits";
  EXPECT_EQ(pull(4, nullptr, &served), "");
  publish(5, {kLog});
  EXPECT_EQ(wake_.size(), 2U);
  tail_->leave(first);
  tail_->leave(second);
}

TEST_F(TailTest, AFilteredWaiterSleepsThroughOtherTypes) {
  publish(1, {kLog});
  Selection calls{{mask_of(kCall), {}}, {}};
  Waiter waiter;
  pull(1, &calls, &waiter);
  wake_.clear();
  publish(2, {kLog, kLog});
  EXPECT_TRUE(wake_.empty());
  EXPECT_EQ(tail_->passed(waiter), 3U);
  publish(4, {kLog, kCall});
  EXPECT_EQ(wake_.size(), 1U);
  drain();
  EXPECT_EQ(waiter.woken, 1);
  EXPECT_EQ(pull(3, &calls), "e5 ");
  EXPECT_EQ(last_.skipped, 1U);
  tail_->leave(waiter);
}

TEST_F(TailTest, UnknownTypesAreSelectedByName) {
  auto batch = std::make_shared<EventBatch>(*make_batch("t", 1, 1, {EventType::other}));
  batch->bytes = R"({"sequence":1,"receivedAt":"x","type":"my_type","summary":"\"type\":\"other_type\""})";
  batch->ends = {static_cast<std::uint32_t>(batch->bytes.size())};
  tail_->publish(batch, wake_);
  Selection mine{{0, {"my_type"}}, {}};
  Selection other{{0, {"other_type"}}, {}};
  EXPECT_EQ(pull(0, &mine), "e1 ");
  EXPECT_EQ(pull(0, &other), "");
}

TEST_F(TailTest, LearningWakesWhoeverWaitsBehind) {
  publish(1, {kLog});
  Waiter waiter;
  pull(1, nullptr, &waiter);
  wake_.clear();
  tail_->advance_head(1, {}, wake_);
  EXPECT_TRUE(wake_.empty());
  tail_->advance_head(9, {}, wake_);
  EXPECT_EQ(wake_.size(), 1U);
  drain();
  pull(1);
  EXPECT_EQ(last_.what, Pull::What::behind);
  tail_->leave(waiter);
}

TEST_F(TailTest, ADeletedTaskIsGone) {
  publish(1, {kLog});
  tail_->forget_deleted(wake_);
  pull(1);
  EXPECT_EQ(last_.what, Pull::What::gone);
}

TEST(Hub, PublishesToTheTaskAndToAll) {
  ManualClock clock;
  MetricRegistry metrics;
  Hub hub(clock, metrics);
  auto task = hub.tail("t");
  auto all = hub.tail("");
  std::vector<BatchPtr> batches{make_batch("t", 1, 100, {kLog}), make_batch("u", 1, 101, {kLog})};
  Hub::wake(hub.take_in(batches));
  EXPECT_EQ(task->head(), 1U);
  EXPECT_EQ(all->head(), 101U);
  EXPECT_EQ(hub.head("u"), std::nullopt);
}

TEST(Hub, ForgetsTailsNobodyHolds) {
  ManualClock clock;
  MetricRegistry metrics;
  Hub hub(clock, metrics);
  hub.tail("t");
  auto held = hub.tail("u");
  clock.advance_ms(kTailLinger.count() + 1);
  hub.age();
  EXPECT_EQ(hub.head("t"), std::nullopt);
  EXPECT_NE(hub.head("u"), std::nullopt);
}

TEST(Hub, MemoryIsBoundedLeastRecentlyUsedFirst) {
  ManualClock clock;
  MetricRegistry metrics;
  Hub hub(clock, metrics);
  std::vector<std::shared_ptr<Tail>> held;
  std::string padding(1 * kMiB, 'x');
  for (int i = 0; i < 300; ++i) {
    clock.advance_ms(10);
    std::string task = "t" + std::to_string(i);
    held.push_back(hub.tail(task));
    std::vector<BatchPtr> batches{make_batch(task, 1, static_cast<std::uint64_t>(i) + 1, {kLog}, padding)};
    Hub::wake(hub.take_in(batches));
  }
  hub.age();
  std::size_t total = 0;
  for (const auto& tail : held) total += tail->bytes();
  EXPECT_LE(total, kHubBytes);
  EXPECT_EQ(held.front()->bytes(), 0U);
  EXPECT_GT(held.back()->bytes(), 0U);
  EXPECT_EQ(held.front()->head(), 1U) << "the number stays known";
}

TEST(Hub, ANewDeltaReachesWaitersBeforeTheNextEvent) {
  ManualClock clock;
  MetricRegistry metrics;
  Hub hub(clock, metrics);
  ManualExecutor io;
  TextFrames frames;
  auto tail = hub.tail("t");
  std::vector<BatchPtr> first{make_batch("t", 1, 1, {kLog})};
  Hub::wake(hub.take_in(first));
  Waiter waiter;
  std::uint64_t seen = 0;
  std::vector<ByteSpan> spans;
  tail->add_delta_reader();
  tail->pull({&frames, 1, nullptr, &seen, kPlenty}, spans, &waiter, &io);
  hub.publish_delta("t", "hello");
  std::vector<BatchPtr> second{make_batch("t", 2, 2, {kLog})};
  Hub::wake(hub.take_in(second));
  io.run_all();
  EXPECT_EQ(waiter.woken, 1);
  tail->pull({&frames, 1, nullptr, &seen, kPlenty}, spans, nullptr, &io);
  EXPECT_EQ(text_of(spans), "delta:hello e2 ");
  tail->leave(waiter);
}

class DeltaTest : public ::testing::Test {
 protected:
  DeltaTest() { tail_->add_delta_reader(); }

  void event(std::uint64_t number) {
    std::vector<BatchPtr> batches{make_batch("t", number, number, {kLog})};
    Hub::wake(hub_.take_in(batches));
  }
  // Everything from this number on, as a feed that is called again and again gets it.
  std::string read(std::uint64_t after) {
    std::vector<ByteSpan> spans;
    for (;;) {
      std::vector<ByteSpan> more;
      Pull pull = tail_->pull({&frames_, after, nullptr, &seen_, kPlenty}, more, nullptr, &io_);
      spans.insert(spans.end(), more.begin(), more.end());
      if (more.empty()) return text_of(spans);
      after = pull.number;
    }
  }

  ManualClock clock_;
  MetricRegistry metrics_;
  Hub hub_{clock_, metrics_};
  ManualExecutor io_;
  TextFrames frames_;
  std::shared_ptr<Tail> tail_ = hub_.tail("t");
  std::uint64_t seen_ = 0;
};

// A chat's prompt is committed and answered before its observers have read the commit.
TEST_F(DeltaTest, AReaderThatIsBusyGetsThemAtTheirPlace) {
  event(1);
  hub_.publish_delta("t", "a");
  hub_.publish_delta("t", "b");
  event(2);
  hub_.publish_delta("t", "c");
  event(3);
  EXPECT_EQ(read(0), "e1 delta:a delta:b e2 delta:c e3 ");
}

TEST_F(DeltaTest, OneThatComesLaterGetsOnlyNewOnes) {
  event(1);
  hub_.publish_delta("t", "old");
  seen_ = hub_.newest_delta();
  hub_.publish_delta("t", "new");
  EXPECT_EQ(read(1), "delta:new ");
}

TEST_F(DeltaTest, TheyWaitForALogWhoseEndIsNotKnownYet) {
  hub_.publish_delta("t", "early");
  event(7);
  EXPECT_EQ(read(6), "delta:early e7 ");
}

TEST_F(DeltaTest, NothingIsKeptWithoutAReader) {
  event(1);
  tail_->remove_delta_reader();
  hub_.publish_delta("t", "lost");
  tail_->add_delta_reader();
  EXPECT_EQ(read(1), "");
}

TEST_F(DeltaTest, TheOldestAreDroppedBeyondTheBound) {
  event(1);
  for (std::size_t i = 0; i < kPendingDeltas + 10; ++i) hub_.publish_delta("t", std::to_string(i));
  EXPECT_TRUE(read(1).starts_with("delta:10 "));
}

}  // namespace
}  // namespace shepherd
