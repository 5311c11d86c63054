#include "base/wall_filter.h"

#include <gtest/gtest.h>

#include "base/clock.h"

namespace shepherd {
namespace {

constexpr std::int64_t kDayMs = 86'400'000;
constexpr std::int64_t kStart = 1'700'000'000'000;

TEST(WallFilter, FollowsAClockThatIsSetRightInPassing) {
  WallFilter filter;
  EXPECT_EQ(filter.read(kStart, 1'000), kStart);
  EXPECT_EQ(filter.read(kStart + 5, 1'004), kStart + 5);
  EXPECT_EQ(filter.read(kStart + 60'000, 1'005), kStart + 60'000);
  EXPECT_EQ(filter.read(kStart + 10, 1'006), kStart + 10);
}

TEST(WallFilter, ASecondOfAnotherYearChangesNothing) {
  WallFilter filter;
  filter.read(kStart, 0);
  for (std::int64_t ms = 1; ms < 1'000; ms += 100) {
    EXPECT_EQ(filter.read(kStart + 400 * kDayMs + ms, ms), kStart + ms);
  }
  EXPECT_EQ(filter.read(kStart + 1'000, 1'000), kStart + 1'000);
  // A later wrong reading starts from zero again: separate doubts do not add up.
  for (std::int64_t at = 20'000; at < 100'000; at += 20'000) {
    EXPECT_EQ(filter.read(kStart + 400 * kDayMs + at, at), kStart + at);
    EXPECT_EQ(filter.read(kStart + at + 1, at + 1), kStart + at + 1);
  }
}

TEST(WallFilter, ANewTimeThatLastsIsFollowedForwardAndBack) {
  for (std::int64_t jump : {400 * kDayMs, -400 * kDayMs}) {
    WallFilter filter;
    filter.read(kStart, 0);
    EXPECT_EQ(filter.read(kStart + jump + 1, 1), kStart + 1);
    EXPECT_EQ(filter.read(kStart + jump + WallFilter::kSettleMs, WallFilter::kSettleMs),
              kStart + WallFilter::kSettleMs);
    std::int64_t after = WallFilter::kSettleMs + 1;
    EXPECT_EQ(filter.read(kStart + jump + after, after), kStart + jump + after);
  }
}

TEST(SystemClock, AClockThatWasSetBackForGoodIsNotWaitedFor) {
  SystemClock clock;
  EXPECT_EQ(clock.never_back(kStart + 400 * kDayMs), kStart + 400 * kDayMs);
  EXPECT_EQ(clock.never_back(kStart), kStart);
  EXPECT_EQ(clock.never_back(kStart - 5'000), kStart) << "a small step back stands still";
  EXPECT_EQ(clock.never_back(kStart + 1), kStart + 1);
}

}  // namespace
}  // namespace shepherd
