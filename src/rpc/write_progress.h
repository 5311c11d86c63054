// Detects a peer that stopped reading. The owner polls it: if the same message is still in flight at two consecutive
// polls, the peer has read nothing in between.
#pragma once

#include <cstdint>

#include "base/limits.h"

namespace shepherd {

// Threads: value.
class WriteProgress {
 public:
  // `writing`: a message is on its way now; `begun`: how many have been begun so far.
  // True: nothing has moved for longer than kWriteDeadline. Never true while nothing is to be written.
  bool stuck(std::int64_t steady_ms, bool writing, std::uint64_t begun) {
    if (!writing || begun != begun_) {
      begun_ = begun;
      moved_ms_ = steady_ms;
    }
    return steady_ms - moved_ms_ > kWriteDeadline.count();
  }

 private:
  std::uint64_t begun_ = 0;    // at the last look that saw it move
  std::int64_t moved_ms_ = 0;  // when that was
};

}  // namespace shepherd
