// Detects a peer that stopped reading. The owner polls it: if the same message is still in flight at two consecutive
// polls, the peer has read nothing in between.
#pragma once

#include <cstdint>

#include "base/limits.h"

namespace shepherd {

// Threads: value.
class WriteProgress {
 public:
  // `writing`: a message is in flight; `begun`: the number of messages begun so far. Returns true if nothing has moved
  // for longer than kWriteDeadline, and never while there is nothing to write.
  bool stuck(std::int64_t steady_ms, bool writing, std::uint64_t begun) {
    if (!writing || begun != begun_) {
      begun_ = begun;
      moved_ms_ = steady_ms;
    }
    return steady_ms - moved_ms_ > kWriteDeadline.count();
  }

 private:
  std::uint64_t begun_ = 0;    // at the last poll that saw progress
  std::int64_t moved_ms_ = 0;  // time of that poll
};

}  // namespace shepherd
