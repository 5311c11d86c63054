// Signals as callbacks on an event loop.
// Threads: strand; create it before any thread, which would otherwise receive the signals.
#pragma once

#include <csignal>
#include <functional>
#include <initializer_list>

#include "net/event_loop.h"

namespace shepherd {

class SignalWatch final : private net::EventLoop::Watcher {
 public:
  SignalWatch(net::EventLoop& loop, std::initializer_list<int> signals, std::function<void(int)> take);
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

 private:
  void on_events(std::uint32_t events) override;

  net::EventLoop& loop_;
  const std::function<void(int)> take_;
  sigset_t before_{};
  int descriptor_ = -1;
};

}  // namespace shepherd
