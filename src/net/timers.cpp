#include "net/timers.h"

#include <algorithm>

namespace shepherd::net {

Timers::~Timers() {
  leave();
}

void Timers::leave() {
  while (!armed_.empty()) armed_.begin()->second->disarm();
  if (std::exchange(ticking_, false)) loop_.remove_ticker(*this);
}

void Timers::enlist() {
  if (ticking_) return;
  ticking_ = true;
  loop_.add_ticker(*this, std::chrono::milliseconds(0));
  due_ = TimePoint::max();
  loop_.set_due(*this, due_);
}

void Timers::add(TimePoint at, Timer& timer) {
  armed_.insert({at, &timer});
  enlist();
  if (at >= due_) return;
  due_ = at;
  loop_.set_due(*this, due_);
}

void Timers::remove(TimePoint at, Timer& timer) {
  armed_.erase({at, &timer});
}

std::chrono::milliseconds Timers::tick() {
  TimePoint now = std::chrono::steady_clock::now();
  while (!armed_.empty() && armed_.begin()->first <= now) {
    Timer& timer = *armed_.begin()->second;
    timer.disarm();
    auto fire = timer.fire_;  // a copy, because it may destroy the timer
    fire();
  }
  constexpr std::chrono::milliseconds kFarAway{3'600'000};
  if (armed_.empty()) {
    due_ = now + kFarAway;
    return kFarAway;
  }
  auto left = std::chrono::ceil<std::chrono::milliseconds>(armed_.begin()->first - now);
  left = std::clamp(left, kTimerGrain, kFarAway);
  due_ = now + left;
  return left;
}

void Timers::on_loop_stop() {
  leave();
  if (on_stop_) on_stop_();
}

void Timer::arm(TimePoint at) {
  if (at == at_) return;
  disarm();
  at_ = at;
  if (at_ != TimePoint::max()) timers_.add(at_, *this);
}

void Timer::disarm() {
  if (at_ == TimePoint::max()) return;
  timers_.remove(at_, *this);
  at_ = TimePoint::max();
}

}  // namespace shepherd::net
