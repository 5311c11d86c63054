#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "base/clock.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/metrics.h"
#include "base/scheduling.h"
#include "base/thread_pool.h"

namespace shepherd {
namespace {

TEST(Clock, FormatsAndParsesTheSameMoment) {
  EXPECT_EQ(format_timestamp(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(format_timestamp(1771423200123), "2026-02-18T14:00:00.123Z");
  EXPECT_EQ(parse_timestamp("2026-02-18T14:00:00.123Z").value(), 1771423200123);
  EXPECT_EQ(parse_timestamp("2026-02-18T15:00:00.123456789+01:00").value(), 1771423200123);
  EXPECT_EQ(parse_timestamp("2026-02-18T14:00:00Z").value(), 1771423200000);
}

TEST(Clock, RefusesWhatIsNotATime) {
  for (const char* bad : {"", "yesterday", "2026-02-30T00:00:00Z", "2026-02-18T24:00:00Z", "2026-02-18T14:00:00",
                          "2026-02-18T14:00:00.Z", "2026-02-18T14:00:00Zx", "2026-02-18T14:00:00+1:00"}) {
    EXPECT_FALSE(parse_timestamp(bad).has_value()) << bad;
  }
}

TEST(Clock, StandsStillWhenTheMachinesClockIsSetBack) {
  SystemClock clock;
  EXPECT_EQ(clock.never_back(5'000'000), 5'000'000);
  EXPECT_EQ(clock.never_back(4'900'000), 5'000'000);
  EXPECT_EQ(clock.never_back(5'000'001), 5'000'001);
}

TEST(Ids, SortByTime) {
  SeededRandom random(1);
  EXPECT_LT(make_task_id(1000, random), make_task_id(2000, random));
  EXPECT_EQ(make_task_id(1000, random).size(), 31U);
}

TEST(Ids, CallersOwn) {
  EXPECT_TRUE(is_task_id("Fix_auth-1.2"));
  EXPECT_FALSE(is_task_id(""));
  EXPECT_FALSE(is_task_id(".."));
  EXPECT_FALSE(is_task_id("a/b"));
  EXPECT_FALSE(is_task_id(std::string(129, 'a')));
}

TEST(ThreadPool, RunEverythingBeforeTheyEnd) {
  std::atomic<int> ran{0};
  {
    ThreadPool workers("test", 3);
    for (int i = 0; i < 1000; ++i) workers.post([&] { ++ran; });
  }
  EXPECT_EQ(ran, 1000);
}

// A thread with SCHED_IDLE that holds a lock would keep the writer waiting while the cores are busy.
TEST(Scheduling, AThreadInTheBackgroundStillGetsItsShare) {
  int policy = -1, nice = -1;
  std::thread([&] {
    run_in_background();
    policy = sched_getscheduler(0);
    nice = getpriority(PRIO_PROCESS, static_cast<id_t>(gettid()));
  }).join();
  EXPECT_EQ(policy, SCHED_OTHER);
  EXPECT_EQ(nice, 19);
  EXPECT_LT(getpriority(PRIO_PROCESS, static_cast<id_t>(gettid())), 19) << "only that thread";
}

TEST(Metrics, SameNameSameInstrumentAndFamiliesTogether) {
  MetricRegistry registry;
  registry.counter("a_total", "a", "x=\"1\"").add(2);
  registry.gauge("b", "b").set(5);
  registry.counter("a_total", "a", "x=\"2\"").add(3);
  EXPECT_EQ(registry.counter("a_total", "a", "x=\"1\"").value(), 2U);
  auto samples = registry.samples();
  ASSERT_EQ(samples.size(), 3U);
  EXPECT_EQ(samples[1].labels, "x=\"2\"");
}

TEST(Metrics, HistogramBuckets) {
  Histogram histogram;
  histogram.observe(0.00004);
  histogram.observe(0.3);
  histogram.observe(99);
  EXPECT_EQ(histogram.bucket(0), 1U);
  EXPECT_EQ(histogram.bucket(12), 1U);
  EXPECT_EQ(histogram.bucket(Histogram::kBounds.size()), 1U);
  EXPECT_EQ(histogram.count(), 3U);
}

TEST(Errors, RetryableOnesAreTheServersFault) {
  EXPECT_TRUE(retryable(ErrorCode::storage_full));
  EXPECT_FALSE(retryable(ErrorCode::conflict));
  EXPECT_EQ(name(ErrorCode::too_large), "too_large");
}

}  // namespace
}  // namespace shepherd
