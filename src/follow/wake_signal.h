// Wakes follower threads after a commit.
#pragma once

#include <semaphore.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <ctime>

namespace shepherd {

// Wakes one thread. set() takes no lock: the waiting thread runs at the lowest priority, and a thread blocked on its
// lock would in effect inherit that priority.
// Threads: any may set; one waits.
class WakeSignal {
 public:
  WakeSignal() { sem_init(&semaphore_, 0, 0); }
  ~WakeSignal() { sem_destroy(&semaphore_); }
  WakeSignal(const WakeSignal&) = delete;
  WakeSignal& operator=(const WakeSignal&) = delete;

  void set() {
    if (!set_.exchange(true)) sem_post(&semaphore_);
  }
  void wait() {
    while (sem_wait(&semaphore_) != 0 && errno == EINTR) {
    }
    set_ = false;
  }
  void wait_for(std::chrono::milliseconds timeout) {
    timespec until{};
    clock_gettime(CLOCK_MONOTONIC, &until);
    auto nanoseconds = until.tv_nsec + timeout.count() % 1000 * 1'000'000;
    until.tv_sec += timeout.count() / 1000 + nanoseconds / 1'000'000'000;
    until.tv_nsec = nanoseconds % 1'000'000'000;
    int waited = 0;
    while ((waited = sem_clockwait(&semaphore_, CLOCK_MONOTONIC, &until)) != 0 && errno == EINTR) {
    }
    if (waited == 0) set_ = false;
  }

 private:
  sem_t semaphore_;
  std::atomic<bool> set_{false};
};

}  // namespace shepherd
