#include "bench/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"

namespace shepherd::bench {
namespace {

TEST(LatencyHistogram, AnswersAreAtMostOneSixtyFourthAboveTheTruth) {
  constexpr std::uint64_t kSeed = 7;
  SeededRandom random(kSeed);
  LatencyHistogram histogram;
  std::vector<std::uint64_t> values;
  for (int i = 0; i < 20'000; ++i) {
    values.push_back(random.next() >> random.below(64));
    histogram.record(values.back());
  }
  std::sort(values.begin(), values.end());
  for (double share : {0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    std::uint64_t truth = values[static_cast<std::size_t>(share * static_cast<double>(values.size()) + 0.5) - 1];
    std::uint64_t answer = histogram.quantile_ns(share);
    EXPECT_GE(answer, truth) << share << " seed " << kSeed;
    EXPECT_LE(static_cast<double>(answer), static_cast<double>(truth) * (1 + 1.0 / 64)) << share << " seed " << kSeed;
  }
  EXPECT_EQ(histogram.max_ns(), values.back());
}

TEST(LatencyHistogram, SmallValuesAreExact) {
  LatencyHistogram histogram;
  for (std::uint64_t value = 0; value < 100; ++value) histogram.record(value);
  EXPECT_EQ(histogram.quantile_ns(0.5), 49U);
  EXPECT_EQ(histogram.quantile_ns(0.01), 0U);
  EXPECT_EQ(histogram.quantile_ns(1), 99U);
}

TEST(LatencyHistogram, AddsAndClears) {
  LatencyHistogram one, other;
  one.record(10);
  other.record(1'000'000, 3);
  one.add(other);
  EXPECT_EQ(one.count(), 4U);
  EXPECT_EQ(one.max_ns(), 1'000'000U);
  EXPECT_EQ(one.quantile_ns(0.25), 10U);
  one.clear();
  EXPECT_EQ(one.count(), 0U);
  EXPECT_EQ(one.quantile_ns(0.5), 0U);
}

}  // namespace
}  // namespace shepherd::bench
