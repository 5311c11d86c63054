// The signals that end a program. All threads block them and one collects them, so that stopping is ordinary code
// instead of a signal handler.
// Threads: caller; create it before any thread.
#pragma once

#include <chrono>
#include <csignal>
#include <ctime>

namespace shepherd {

class EndSignals {
 public:
  EndSignals() {
    sigemptyset(&set_);
    for (int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set_, signal);
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
  }
  // The signal that arrived in time, or 0.
  int wait(std::chrono::milliseconds time) const {
    timespec timeout{time.count() / 1'000, (time.count() % 1'000) * 1'000'000};
    int signal = sigtimedwait(&set_, nullptr, &timeout);
    return signal > 0 ? signal : 0;
  }
  // From now on another signal ends the process immediately.
  void unblock() const { pthread_sigmask(SIG_UNBLOCK, &set_, nullptr); }

 private:
  sigset_t set_;
};

}  // namespace shepherd
