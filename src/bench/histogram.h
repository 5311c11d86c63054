// Counts durations in buckets that grow with the value: a result is at most 1/64 above the true value, for durations
// from a nanosecond to centuries, in 30 KB.
// Threads: caller.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace shepherd::bench {

class LatencyHistogram {
 public:
  void record(std::uint64_t ns, std::uint64_t times = 1) {
    (*buckets_)[bucket_of(ns)] += times;
    count_ += times;
    max_ = std::max(max_, ns);
  }
  void add(const LatencyHistogram& other);
  void clear();

  std::uint64_t count() const { return count_; }
  std::uint64_t max_ns() const { return max_; }
  // The smallest bucket end that at least `share` (0 to 1) of the values do not exceed; 0 if there are none.
  std::uint64_t quantile_ns(double share) const;

 private:
  static constexpr unsigned kStepBits = 6;  // 64 steps per octave
  static constexpr std::size_t kBuckets = (64 - kStepBits + 1) << kStepBits;

  static std::size_t bucket_of(std::uint64_t ns) {
    if (ns < (1U << kStepBits)) return ns;
    unsigned shift = static_cast<unsigned>(std::bit_width(ns)) - 1 - kStepBits;
    return ((shift + 1) << kStepBits) + ((ns >> shift) - (1U << kStepBits));
  }
  static std::uint64_t end_of(std::size_t bucket);

  using Buckets = std::array<std::uint64_t, kBuckets>;
  std::unique_ptr<Buckets> buckets_ = std::make_unique<Buckets>();
  std::uint64_t count_ = 0;
  std::uint64_t max_ = 0;
};

}  // namespace shepherd::bench
