// The machine's wall clock without its mistakes: a reading that is far from where time should be by now is not believed
// until it has stayed there for a while. A clock that is wrong for a second changes nothing; one that is set for good
// is followed, forward and back.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/mutex.h"

namespace shepherd {

// Threads: any.
class WallFilter {
 public:
  // What the wall clock says, and the time since the machine started (it goes on while the machine sleeps).
  std::int64_t read(std::int64_t wall_ms, std::int64_t boot_ms) EXCLUDES(mutex_);

  static constexpr std::int64_t kJumpMs = 600'000;   // larger than what a clock is set right by in passing
  static constexpr std::int64_t kSettleMs = 10'000;  // how long a new time must last to be believed

 private:
  std::int64_t doubt(std::int64_t offset_ms, std::int64_t boot_ms) EXCLUDES(mutex_);

  static constexpr std::int64_t kUnset = INT64_MIN;
  std::atomic<std::int64_t> offset_ms_{kUnset};  // the believed wall clock minus the time since the start
  std::atomic<bool> doubting_{false};
  Mutex mutex_;
  std::int64_t other_offset_ms_ GUARDED_BY(mutex_) = 0;  // the one that is not believed yet
  std::int64_t since_ms_ GUARDED_BY(mutex_) = 0;
};

}  // namespace shepherd
