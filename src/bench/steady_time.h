// The clock of every measurement: monotonic nanoseconds.
// Threads: any.
#pragma once

#include <cstdint>
#include <ctime>

namespace shepherd::bench {

inline constexpr std::uint64_t kNsPerSecond = 1'000'000'000;

inline std::uint64_t steady_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * kNsPerSecond + static_cast<std::uint64_t>(now.tv_nsec);
}

inline std::uint64_t seconds_as_ns(double seconds) {
  return static_cast<std::uint64_t>(seconds * static_cast<double>(kNsPerSecond));
}

}  // namespace shepherd::bench
