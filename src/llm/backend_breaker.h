// Lets a backend rest that keeps failing: after kModelBreakerFailures calls in a row every call fails at once for
// kModelBreakerPause, and then one call decides.
#pragma once

#include <cstdint>

#include "llm/limits.h"

namespace shepherd {

// Threads: caller.
class BackendBreaker {
 public:
  bool may_try(std::int64_t now_ms) const { return failures_ < kModelBreakerFailures || now_ms >= rests_until_ms_; }
  // The first call after the pause decides alone; others wait for another pause.
  void trying(std::int64_t now_ms) {
    if (failures_ >= kModelBreakerFailures) rests_until_ms_ = now_ms + kModelBreakerPause.count();
  }
  void succeeded() { failures_ = 0; }
  void failed(std::int64_t now_ms) {
    if (++failures_ >= kModelBreakerFailures) rests_until_ms_ = now_ms + kModelBreakerPause.count();
  }
  std::int64_t rests_until_ms() const { return rests_until_ms_; }

 private:
  int failures_ = 0;  // in a row
  std::int64_t rests_until_ms_ = 0;
};

}  // namespace shepherd
