#include "cli/replay_pace.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace shepherd {
namespace {

using std::chrono::milliseconds;

// The waits before events that happened at these times.
std::vector<std::int64_t> waits(ReplayPace pace, const std::vector<std::int64_t>& times) {
  std::vector<std::int64_t> found;
  for (std::int64_t time : times) {
    pace.next_event(time);
    found.push_back(pace.left().count());
  }
  return found;
}

TEST(ReplayPace, WaitsAsTheLogDid) {
  EXPECT_EQ(waits(ReplayPace("1", milliseconds(3'000)), {5'000, 5'200, 7'200, 7'200}),
            (std::vector<std::int64_t>{0, 200, 2'000, 0}));
}

TEST(ReplayPace, SpeedDividesAndMaxNeverWaits) {
  EXPECT_EQ(waits(ReplayPace("4", milliseconds(3'000)), {0, 1'000}), (std::vector<std::int64_t>{0, 250}));
  EXPECT_EQ(waits(ReplayPace("max", milliseconds(3'000)), {0, 1'000}), (std::vector<std::int64_t>{0, 0}));
}

TEST(ReplayPace, LongPausesAreShortenedBeforeTheSpeed) {
  EXPECT_EQ(waits(ReplayPace("2", milliseconds(3'000)), {0, 3'600'000}), (std::vector<std::int64_t>{0, 1'500}));
}

// A clock that went back for one event must not make the next event wait twice.
TEST(ReplayPace, AClockThatGoesBackIsNoPause) {
  EXPECT_EQ(waits(ReplayPace("1", milliseconds(3'000)), {1'000, 400, 1'500}), (std::vector<std::int64_t>{0, 0, 500}));
}

TEST(ReplayPace, TheSpeedMayChangeInTheMiddleOfAPause) {
  ReplayPace pace("1", milliseconds(3'000));
  pace.next_event(0);
  pace.next_event(2'000);
  pace.passed(milliseconds(500));
  EXPECT_EQ(pace.left(), milliseconds(1'500));
  pace.faster();
  EXPECT_EQ(pace.text(), "2x");
  EXPECT_EQ(pace.left(), milliseconds(750));
  pace.passed(milliseconds(10'000));
  EXPECT_EQ(pace.left(), milliseconds(0));
}

TEST(ReplayPace, SpeedsStayWithinTheirEnds) {
  ReplayPace pace("64", milliseconds(3'000));
  pace.faster();
  pace.faster();
  EXPECT_EQ(pace.text(), "max");
  for (int i = 0; i < 20; ++i) pace.slower();
  EXPECT_EQ(pace.text(), "1x");
}

}  // namespace
}  // namespace shepherd
