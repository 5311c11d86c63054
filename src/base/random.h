// Randomness is passed in, so that a seed reproduces a failure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>

namespace shepherd {

// Threads: each implementation states its own rule.
class Random {
 public:
  virtual ~Random() = default;
  virtual std::uint64_t next() = 0;
  // A number in [0, bound), uniform enough for schedules and jitter.
  std::uint64_t below(std::uint64_t bound) { return bound == 0 ? 0 : next() % bound; }
};

// The kernel's generator, suitable for secrets. Threads: any.
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
