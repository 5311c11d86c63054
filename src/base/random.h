// Randomness is passed in, so that a seed reproduces a failure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>

namespace shepherd {

// Threads: implementations say.
class Random {
 public:
  virtual ~Random() = default;
  virtual std::uint64_t next() = 0;
  // Uniform enough for schedules and jitter: [0, bound).
  std::uint64_t below(std::uint64_t bound) { return bound == 0 ? 0 : next() % bound; }
};

// The kernel's generator; fit for secrets. Threads: any.
class SystemRandom final : public Random {
 public:
  std::uint64_t next() override;
};

// Reproducible. Threads: caller.
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t next() override { return engine_(); }

 private:
  std::mt19937_64 engine_;
};

}  // namespace shepherd
