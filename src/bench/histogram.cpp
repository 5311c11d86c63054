#include "bench/histogram.h"

#include <cmath>

namespace shepherd::bench {

void LatencyHistogram::add(const LatencyHistogram& other) {
  for (std::size_t i = 0; i < kBuckets; ++i) (*buckets_)[i] += (*other.buckets_)[i];
  count_ += other.count_;
  max_ = std::max(max_, other.max_);
}

void LatencyHistogram::clear() {
  buckets_->fill(0);
  count_ = 0;
  max_ = 0;
}

std::uint64_t LatencyHistogram::end_of(std::size_t bucket) {
  constexpr std::uint64_t kSteps = 1U << kStepBits;
  if (bucket < kSteps) return bucket;
  std::size_t shift = (bucket >> kStepBits) - 1;
  std::uint64_t step = (bucket & (kSteps - 1)) + kSteps;
  return (step << shift) + ((std::uint64_t{1} << shift) - 1);
}

std::uint64_t LatencyHistogram::quantile_ns(double share) const {
  if (count_ == 0) return 0;
  auto wanted = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count_)));
  wanted = std::clamp<std::uint64_t>(wanted, 1, count_);
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    seen += (*buckets_)[i];
    if (seen >= wanted) return std::min(end_of(i), max_);
  }
  return max_;
}

}  // namespace shepherd::bench
