// The signals that end a program. They are blocked in every thread and collected by one, so that stopping is ordinary
// code and not a handler.
// Threads: caller; to be made before any thread is.
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
  // The one that came within the time; 0: none.
  int wait(std::chrono::milliseconds time) const {
    timespec timeout{time.count() / 1'000, (time.count() % 1'000) * 1'000'000};
    int signal = sigtimedwait(&set_, nullptr, &timeout);
    return signal > 0 ? signal : 0;
  }
  // A further one ends the process at once.
  void unblock() const { pthread_sigmask(SIG_UNBLOCK, &set_, nullptr); }

 private:
  sigset_t set_;
};

}  // namespace shepherd
