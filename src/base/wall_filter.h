// Filters mistakes out of the machine's wall clock. A reading far from the expected time is ignored until it has stayed
// there for a while: a clock that is wrong for a second changes nothing, and a permanent change is followed, forward or
// back.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/mutex.h"

namespace shepherd {

// Threads: any.
class WallFilter {
 public:
  // Filters one reading of the wall clock. `boot_ms` is the time since the machine started, including sleep.
  std::int64_t read(std::int64_t wall_ms, std::int64_t boot_ms) EXCLUDES(mutex_);

  static constexpr std::int64_t kJumpMs = 600'000;   // larger than an ordinary clock correction
  static constexpr std::int64_t kSettleMs = 10'000;  // how long a new time must last before it is accepted

 private:
  std::int64_t doubt(std::int64_t offset_ms, std::int64_t boot_ms) EXCLUDES(mutex_);

  static constexpr std::int64_t kUnset = INT64_MIN;
  std::atomic<std::int64_t> offset_ms_{kUnset};  // accepted wall clock minus time since the machine started
  std::atomic<bool> doubting_{false};
  Mutex mutex_;
  std::int64_t other_offset_ms_ GUARDED_BY(mutex_) = 0;  // a new offset that is not accepted yet
  std::int64_t since_ms_ GUARDED_BY(mutex_) = 0;
};

}  // namespace shepherd
