#include "store/producer_numbers.h"

#include <gtest/gtest.h>

#include <set>

#include "base/random.h"
#include "store/limits.h"

namespace shepherd {
namespace {

TEST(ProducerNumbers, CountUpWithoutHoles) {
  ProducerNumbers numbers;
  numbers.use(1, 5);
  EXPECT_EQ(numbers.high(), 5u);
  EXPECT_TRUE(numbers.used(1));
  EXPECT_TRUE(numbers.used(5));
  EXPECT_FALSE(numbers.used(6));
  EXPECT_FALSE(numbers.used(0));
  EXPECT_EQ(numbers.encode_holes(), "");
}

TEST(ProducerNumbers, RememberHolesAndFillThem) {
  ProducerNumbers numbers;
  numbers.use(10);
  EXPECT_EQ(numbers.encode_holes(), "1-9");
  numbers.use(5);
  EXPECT_EQ(numbers.encode_holes(), "1-4,6-9");
  numbers.use(1);
  numbers.use(9);
  EXPECT_EQ(numbers.encode_holes(), "2-4,6-8");
  numbers.use(2, 3);
  EXPECT_EQ(numbers.encode_holes(), "6-8");
  numbers.use(7);
  numbers.use(6);
  numbers.use(8);
  EXPECT_EQ(numbers.encode_holes(), "");
  EXPECT_EQ(numbers.high(), 10u);
}

TEST(ProducerNumbers, AgreeWithASet) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    SeededRandom random(seed);
    ProducerNumbers numbers;
    std::set<std::uint64_t> used;
    for (int i = 0; i < 300; ++i) {
      std::uint64_t number = random.below(200) + 1;
      numbers.use(number);
      used.insert(number);
      auto again = ProducerNumbers::decode(numbers.high(), numbers.encode_holes());
      ASSERT_EQ(again, numbers);
    }
    for (std::uint64_t n = 1; n <= 210; ++n) ASSERT_EQ(numbers.used(n), used.contains(n)) << n;
  }
}

TEST(ProducerNumbers, ForgetTheLowestHolesBeyondTheBound) {
  ProducerNumbers numbers;
  for (std::uint64_t n = 1; n <= kMaxLooseHoles + 10; ++n) numbers.use(2 * n);
  EXPECT_TRUE(numbers.used(1)) << "forgotten: counts as used";
  EXPECT_FALSE(numbers.used(2 * kMaxLooseHoles + 1));
}

TEST(ProducerNumbers, DecodeSurvivesNonsense) {
  for (std::string_view holes : {"", "x", "1", "1-", "5-3", "1-2,,", "3-4,1-2", "1-99", "-", "1-2,3"}) {
    auto numbers = ProducerNumbers::decode(50, holes);
    EXPECT_EQ(numbers.high(), 50u) << holes;
    EXPECT_FALSE(numbers.used(51));
  }
}

TEST(ProducerNumbers, KeepAsManyHolesAsTheBoundSays) {
  ProducerNumbers numbers;
  for (std::uint64_t n = 1; n <= kMaxLooseHoles; ++n) numbers.use(2 * n);
  EXPECT_FALSE(numbers.used(1)) << "as many as there may be";
  ProducerNumbers split = numbers;
  numbers.use(2 * kMaxLooseHoles + 2);
  EXPECT_TRUE(numbers.used(1));
  EXPECT_FALSE(numbers.used(3));

  split = ProducerNumbers::decode(3 * kMaxLooseHoles, "");
  split.use(3 * kMaxLooseHoles + 10);  // one hole of nine
  for (std::uint64_t n = 1; n < kMaxLooseHoles; ++n) split.use(3 * kMaxLooseHoles + 10 + 2 * n);
  EXPECT_FALSE(split.used(3 * kMaxLooseHoles + 1));
  split.use(3 * kMaxLooseHoles + 5);  // two of four: one too many
  EXPECT_TRUE(split.used(3 * kMaxLooseHoles + 1));
  EXPECT_FALSE(split.used(3 * kMaxLooseHoles + 6));
}

TEST(ProducerNumbers, DecodeTakesWhatIsInOrderAndBelowTheHighest) {
  auto decoded = [](std::string_view holes) { return ProducerNumbers::decode(50, holes).encode_holes(); };
  EXPECT_EQ(decoded("1-2,3-4"), "1-2,3-4");
  EXPECT_EQ(decoded("1-2,2-4"), "1-2");
  EXPECT_EQ(decoded("5-5"), "5-5");
  EXPECT_EQ(decoded("5-4"), "");
  EXPECT_EQ(decoded("1-49"), "1-49");
  EXPECT_EQ(decoded("1-50"), "");
  EXPECT_EQ(decoded("0-3"), "");
  EXPECT_EQ(decoded("1-2,x,7-8"), "1-2");
  EXPECT_EQ(decoded("1-2,7"), "1-2");
  EXPECT_EQ(decoded("1-2,7-"), "1-2");
  EXPECT_EQ(decoded("1:2"), "");
  EXPECT_EQ(ProducerNumbers::decode(50, "3-4").high(), 50U);
}

}  // namespace
}  // namespace shepherd
