#include "base/lane.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/drain.h"
#include "base/lane_set.h"
#include "base/limits.h"

namespace shepherd {
namespace {

// Keeps one thread of a lane busy until the test lets it go.
class Hold {
 public:
  explicit Hold(Lane& lane, const std::string& caller = "holder") {
    lane.offer(caller, [latches = latches_](Turn) {
      latches->begun.count_down();
      latches->free.wait();
    });
    latches_->begun.wait();
  }
  void let_go() { latches_->free.count_down(); }

 private:
  struct Latches {
    std::latch begun{1}, free{1};
  };
  std::shared_ptr<Latches> latches_ = std::make_shared<Latches>();  // the lane may end after this
};

class LaneTest : public testing::Test {
 protected:
  // Notes what runs, in order.
  LaneWork note(const std::string& name) {
    return [this, name](Turn turn) {
      MutexLock lock(mutex_);
      ran_ += turn == Turn::refused ? name + "! " : name + " ";
    };
  }
  std::string ran() {
    MutexLock lock(mutex_);
    return ran_;
  }
  std::uint64_t metric(const std::string& name) { return metrics_.counter(name, "", "lane=\"test\"").value(); }

  MetricRegistry metrics_;
  Mutex mutex_;
  std::string ran_ GUARDED_BY(mutex_);
};

TEST_F(LaneTest, RunsEverythingBeforeItEnds) {
  std::atomic<int> ran{0};
  {
    Lane lane({"test", 3, 10, 10}, metrics_);
    for (int i = 0; i < 1'000; ++i) lane.post([&] { ++ran; });
  }
  EXPECT_EQ(ran, 1'000) << "the server's own work is never refused";
  EXPECT_EQ(metrics_.gauge("shepherd_lane_waiting", "", "lane=\"test\"").value(), 0);
}

TEST_F(LaneTest, CallersTakeTurns) {
  {
    Lane lane({"test", 1, 100, 100}, metrics_);
    Hold hold(lane);
    for (const char* name : {"a1", "a2", "a3", "a4"}) lane.offer("a", note(name));
    for (const char* name : {"b1", "b2"}) lane.offer("b", note(name));
    lane.post([work = note("own")]() mutable { work(Turn::waited); });
    hold.let_go();
  }
  EXPECT_EQ(ran(), "a1 b1 own a2 b2 a3 a4 ");
}

TEST_F(LaneTest, TheNextStepComesBeforeTheCallersOtherWorkAndAfterOtherCallers) {
  {
    Lane lane({"test", 1, 100, 100}, metrics_);
    Hold hold(lane);
    lane.offer("a", [&](Turn) {
      note("step1")(Turn::waited);
      lane.go_on("a", note("step2"));
    });
    lane.offer("a", note("a2"));
    lane.offer("b", note("b1"));
    hold.let_go();
  }
  EXPECT_EQ(ran(), "step1 b1 step2 a2 ");
}

TEST_F(LaneTest, OneCallerLeavesAThreadToTheOthers) {
  std::latch done(1);
  {
    Lane lane({"test", 2, 100, 100}, metrics_);
    Hold first(lane, "a");
    lane.offer("a", [&](Turn turn) { note(turn == Turn::waited ? "waited" : "at_once")(turn); });
    lane.offer("b", [&](Turn) { done.count_down(); });
    done.wait();
    EXPECT_EQ(ran(), "") << "the first caller's second piece of work came before, and waits";
    first.let_go();
  }
  EXPECT_EQ(ran(), "waited ");
}

TEST_F(LaneTest, RefusesWhatIsBeyondItsBounds) {
  {
    Lane lane({"test", 1, 3, 2}, metrics_);
    Hold hold(lane);
    for (const char* name : {"a1", "a2", "a3"}) lane.offer("a", note(name));
    EXPECT_EQ(ran(), "a3! ") << "called at once";
    lane.offer("b", note("b1"));
    lane.offer("c", note("c1"));
    EXPECT_EQ(ran(), "a3! c1! ");
    lane.go_on("c", note("c2"));
    hold.let_go();
  }
  EXPECT_EQ(ran(), "a3! c1! a1 b1 c2 a2 ");
  EXPECT_EQ(metric("shepherd_lane_refused_total"), 2U);
}

TEST_F(LaneTest, SaysWhetherWorkWaited) {
  std::vector<Turn> turns;
  std::latch first(1), free(1);
  {
    Lane lane({"test", 1, 10, 10}, metrics_);
    lane.offer("a", [&](Turn turn) {
      turns.push_back(turn);
      first.count_down();
      free.wait();
    });
    first.wait();
    lane.offer("b", [&](Turn turn) { turns.push_back(turn); });
    free.count_down();
  }
  EXPECT_EQ(turns, (std::vector{Turn::at_once, Turn::waited}));
}

TEST_F(LaneTest, ManyCallersOnManyThreads) {
  std::atomic<int> ran{0}, refused{0};
  {
    Lane lane({"test", 4, 500, 100}, metrics_);
    std::vector<std::jthread> threads;
    for (int caller = 0; caller < 4; ++caller) {
      threads.emplace_back([&, name = std::to_string(caller)] {
        for (int i = 0; i < 2'000; ++i) {
          lane.offer(name, [&, name](Turn turn) {
            if (turn == Turn::refused) {
              ++refused;
              return;
            }
            lane.go_on(name, [&](Turn) { ++ran; });
          });
        }
      });
    }
  }
  EXPECT_EQ(ran + refused, 8'000);
}

TEST_F(LaneTest, AServersLanesDoNotShareThreads) {
  Lanes lanes(metrics_);
  std::vector<Lane*> all{&lanes.feeds, &lanes.queries, &lanes.scans, &lanes.intake, &lanes.background};
  for (Lane* idle : all) {
    std::latch free(1), ended(static_cast<std::ptrdiff_t>(4 * kLaneThreads)), ran(1);
    for (Lane* lane : all) {
      for (std::size_t i = 0; lane != idle && i < kLaneThreads; ++i) {
        lane->post([&] {
          free.wait();
          ended.count_down();
        });
      }
    }
    idle->offer("a", [&](Turn) { ran.count_down(); });
    ran.wait();  // although all threads of the others are busy
    free.count_down();
    ended.wait();
  }
}

TEST(Drain, WaitsUntilAllWorkHasLeft) {
  for (int round = 0; round < 200; ++round) {
    std::atomic<int> left{0};
    std::vector<std::jthread> threads;
    auto drain = std::make_unique<Drain>();
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&left, pass = Drain::Pass(*drain)]() mutable {
        Drain::Pass moved = std::move(pass);
        ++left;
      });
    }
    drain->wait();
    EXPECT_EQ(left, 3);
    drain.reset();
  }
  Drain unused;
  unused.wait();
}

}  // namespace
}  // namespace shepherd
