#include "base/wall_filter.h"

#include <cstdlib>

#include "base/log.h"

namespace shepherd {

std::int64_t WallFilter::read(std::int64_t wall_ms, std::int64_t boot_ms) {
  std::int64_t offset_ms = wall_ms - boot_ms;
  std::int64_t believed_ms = offset_ms_.load(std::memory_order_relaxed);
  if (believed_ms != kUnset && std::abs(offset_ms - believed_ms) >= kJumpMs) return doubt(offset_ms, boot_ms);
  if (doubting_.load(std::memory_order_relaxed)) doubting_ = false;  // the reading is back to normal
  offset_ms_.store(offset_ms, std::memory_order_relaxed);
  return wall_ms;
}

std::int64_t WallFilter::doubt(std::int64_t offset_ms, std::int64_t boot_ms) {
  MutexLock lock(mutex_);
  std::int64_t believed_ms = offset_ms_.load(std::memory_order_relaxed);
  if (!doubting_.exchange(true) || std::abs(offset_ms - other_offset_ms_) >= kJumpMs) {
    other_offset_ms_ = offset_ms;
    since_ms_ = boot_ms;
  }
  if (boot_ms - since_ms_ < kSettleMs) return boot_ms + believed_ms;
  log_warn("the machine's clock was set by {} s; going on with the new time", (offset_ms - believed_ms) / 1'000);
  offset_ms_.store(offset_ms, std::memory_order_relaxed);
  doubting_ = false;
  return boot_ms + offset_ms;
}

}  // namespace shepherd
