// One-shot timers of one owner on an event loop, behind one of its ticks.
#pragma once

#include <chrono>
#include <functional>
#include <set>
#include <utility>

#include "net/event_loop.h"

namespace shepherd::net {

using TimePoint = std::chrono::steady_clock::time_point;

class Timer;

// Must outlive its timers. When the loop ends it disarms all of them and calls `on_stop`.
// Threads: strand.
class Timers final : private EventLoop::Ticker {
 public:
  Timers(EventLoop& loop, std::function<void()> on_stop) : loop_(loop), on_stop_(std::move(on_stop)) {}
  ~Timers();
  Timers(const Timers&) = delete;
  Timers& operator=(const Timers&) = delete;

  void enlist();  // with the loop, so that `on_stop` is called also if no timer was ever armed
  void leave();   // disarms all; the loop may end before this object

 private:
  friend class Timer;
  std::chrono::milliseconds tick() override;
  void on_loop_stop() override;
  void add(TimePoint at, Timer& timer);
  void remove(TimePoint at, Timer& timer);

  EventLoop& loop_;
  std::function<void()> on_stop_;
  std::set<std::pair<TimePoint, Timer*>> armed_;
  TimePoint due_ = TimePoint::max();
  bool ticking_ = false;
};

// Calls `fire` once at the armed time, or up to a few milliseconds later. `fire` may destroy the timer.
// Threads: strand.
class Timer {
 public:
  Timer(Timers& timers, std::function<void()> fire) : timers_(timers), fire_(std::move(fire)) {}
  ~Timer() { disarm(); }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  void arm(TimePoint at);
  // Arms it unless it fires earlier anyway. For deadlines that move on often: what fires early looks again.
  void arm_by(TimePoint at) {
    if (at < at_) arm(at);
  }
  void disarm();

 private:
  friend class Timers;
  Timers& timers_;
  std::function<void()> fire_;
  TimePoint at_ = TimePoint::max();  // max: disarmed
};

}  // namespace shepherd::net
