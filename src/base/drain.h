// Waits for the end of work that others do.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "base/mutex.h"

namespace shepherd {

// Counts pieces of work from enter() to leave(). Its owner calls wait() when it ends, once no new work comes but from
// work that is counted; a second call returns at once. Entering and leaving cost one atomic operation each.
// Threads: any; wait() from one.
class Drain {
 public:
  Drain() = default;
  Drain(const Drain&) = delete;
  Drain& operator=(const Drain&) = delete;

  void enter() { state_.fetch_add(kOne, std::memory_order_relaxed); }
  // The last call into this object for that piece of work, which may be destroyed right after.
  void leave() EXCLUDES(mutex_) {
    if (state_.fetch_sub(kOne, std::memory_order_acq_rel) == kOne + kWaiting) finish();
  }
  // Returns when nothing is counted any more.
  void wait() EXCLUDES(mutex_) {
    if ((state_.fetch_or(kWaiting, std::memory_order_acq_rel) & ~kWaiting) == 0) return;
    MutexLock lock(mutex_);
    while (!finished_) ended_.wait(mutex_);
  }

  // One piece of work. Threads: any; move-only.
  class Pass {
   public:
    explicit Pass(Drain& drain) : drain_(&drain) { drain.enter(); }
    Pass(Pass&& other) noexcept : drain_(std::exchange(other.drain_, nullptr)) {}
    Pass& operator=(Pass&& other) noexcept {
      std::swap(drain_, other.drain_);
      return *this;
    }
    ~Pass() {
      if (drain_ != nullptr) drain_->leave();
    }

   private:
    Drain* drain_;
  };

 private:
  static constexpr std::uint64_t kWaiting = 1;
  static constexpr std::uint64_t kOne = 2;

  // The waiting thread returns only after this has unlocked, so the object is still there.
  void finish() EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    finished_ = true;
    ended_.notify_all();
  }

  std::atomic<std::uint64_t> state_{0};  // kOne for each piece of work, and kWaiting
  Mutex mutex_;
  CondVar ended_;
  bool finished_ GUARDED_BY(mutex_) = false;
};

}  // namespace shepherd
