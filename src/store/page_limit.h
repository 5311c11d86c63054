// Decides when a page of batches is full. A batch is never split, so the last one may exceed the limit of events, but
// not of bytes unless it is the only one. Threads: value.
#pragma once

#include <cstdint>

#include "store/event_store.h"
#include "store/limits.h"

namespace shepherd {

class PageLimit {
 public:
  explicit PageLimit(ReadLimit limit)
      : events_(limit.events == 0 ? kMaxPageEvents : limit.events),
        bytes_(limit.bytes == 0 ? kMaxPageBytes : limit.bytes) {}

  // Whether the next batch goes into the page. `wanted` is the number of its events that the reader requested.
  bool take(std::uint64_t wanted, std::size_t bytes) {
    if (taken_events_ >= events_) return false;
    if (taken_events_ > 0 && taken_bytes_ + bytes > bytes_) return false;
    taken_events_ += wanted;
    taken_bytes_ += bytes;
    return true;
  }
  bool full() const { return taken_events_ >= events_; }
  // The number of events that still fit; a hint for how far to read.
  std::uint64_t events_left() const { return full() ? 0 : events_ - taken_events_; }

 private:
  std::uint64_t events_, bytes_;
  std::uint64_t taken_events_ = 0, taken_bytes_ = 0;
};

}  // namespace shepherd
