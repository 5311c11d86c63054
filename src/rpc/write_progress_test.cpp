#include "rpc/write_progress.h"

#include <gtest/gtest.h>

#include "base/limits.h"

namespace shepherd {
namespace {

constexpr std::int64_t kDeadlineMs = kWriteDeadline.count();

TEST(WriteProgress, AMessageThatNobodyTakesIsStuckAfterTheDeadlineAndNotBefore) {
  WriteProgress progress;
  EXPECT_FALSE(progress.stuck(1'000, true, 1));
  EXPECT_FALSE(progress.stuck(1'000 + kDeadlineMs, true, 1));
  EXPECT_TRUE(progress.stuck(1'001 + kDeadlineMs, true, 1));
}

TEST(WriteProgress, TheDeadlineBeginsAnewWithEveryMessageThatIsTaken) {
  WriteProgress progress;
  std::int64_t now_ms = 1'000;
  for (std::uint64_t begun = 1; begun < 10; ++begun, now_ms += kDeadlineMs) {
    EXPECT_FALSE(progress.stuck(now_ms, true, begun)) << "it moves, however slowly";
  }
  EXPECT_FALSE(progress.stuck(now_ms, true, 9));
  EXPECT_TRUE(progress.stuck(now_ms + 1, true, 9));
}

TEST(WriteProgress, NothingToWriteIsNotStuckHoweverLongItLasts) {
  WriteProgress progress;
  EXPECT_FALSE(progress.stuck(0, true, 1));
  EXPECT_FALSE(progress.stuck(10 * kDeadlineMs, false, 1));
  EXPECT_FALSE(progress.stuck(11 * kDeadlineMs, true, 2)) << "the first message after a long silence";
  EXPECT_TRUE(progress.stuck(12 * kDeadlineMs + 1, true, 2));
}

}  // namespace
}  // namespace shepherd
