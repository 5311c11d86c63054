#include "bench/order_checker.h"

#include <gtest/gtest.h>

#include <vector>

namespace shepherd::bench {
namespace {

Defects after(const std::vector<std::uint32_t>& sequences, std::uint32_t sent) {
  OrderChecker checker(1);
  for (std::uint32_t sequence : sequences) checker.receive(0, sequence);
  return checker.finish(std::vector<std::uint32_t>{sent});
}

TEST(OrderChecker, NothingWrong) {
  EXPECT_TRUE(after({0, 1, 2, 3}, 4).none());
}

TEST(OrderChecker, MissingInTheMiddle) {
  EXPECT_EQ(after({0, 1, 4}, 5), (Defects{.missing = 2}));
}

TEST(OrderChecker, MissingAtTheEnd) {
  EXPECT_EQ(after({0, 1}, 5), (Defects{.missing = 3}));
}

TEST(OrderChecker, MissingAtTheStart) {
  EXPECT_EQ(after({2, 3}, 4), (Defects{.missing = 2}));
}

TEST(OrderChecker, Repeated) {
  EXPECT_EQ(after({0, 1, 1, 2, 0}, 3), (Defects{.repeated = 2}));
}

TEST(OrderChecker, RepeatedInsideAFilledHole) {
  EXPECT_EQ(after({0, 4, 2, 2, 1, 3}, 5), (Defects{.repeated = 1, .disorder = 3}));
}

TEST(OrderChecker, OutOfOrder) {
  EXPECT_EQ(after({0, 2, 1, 3}, 4), (Defects{.disorder = 1}));
}

TEST(OrderChecker, MoreThanWasSent) {
  EXPECT_EQ(after({0, 1, 2}, 2), (Defects{.repeated = 1}));
}

TEST(OrderChecker, AHugeJumpCostsNoMemory) {
  EXPECT_EQ(after({0, 4'000'000'000}, 4'000'000'001), (Defects{.missing = 3'999'999'999}));
}

TEST(OrderChecker, GoesOnFromWhereTheConsumerWas) {
  OrderChecker checker(1, 10);
  checker.receive(0, 10);
  checker.receive(0, 11);
  EXPECT_TRUE(checker.finish(std::vector<std::uint32_t>{12}).none());
  checker.receive(0, 9);
  EXPECT_EQ(checker.finish(std::vector<std::uint32_t>{12}), (Defects{.repeated = 1})) << "it had that one already";
}

TEST(OrderChecker, StreamsAreApart) {
  OrderChecker checker(2);
  EXPECT_TRUE(checker.receive(0, 0));
  EXPECT_TRUE(checker.receive(1, 1));
  EXPECT_TRUE(checker.receive(0, 1));
  EXPECT_FALSE(checker.receive(2, 0)) << "there is no third stream";
  EXPECT_EQ(checker.finish(std::vector<std::uint32_t>{2, 2}), (Defects{.missing = 1}));
}

}  // namespace
}  // namespace shepherd::bench
