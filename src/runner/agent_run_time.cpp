// The time-driven part of an agent's run: ticks of the driver, silence, deadlines, the end of the work.
#include <algorithm>
#include <utility>

#include "runner/agent_run.h"
#include "runner/guards.h"
#include "runner/limits.h"

namespace shepherd {
namespace {

std::string minutes_text(std::chrono::milliseconds time) {
  auto minutes = std::chrono::duration_cast<std::chrono::minutes>(time).count();
  return minutes > 0 ? std::to_string(minutes) + " min" : std::to_string(time.count()) + " ms";
}

}  // namespace

AgentEnd AgentRun::wait_for_end() {
  MutexLock lock(mutex_);
  while (!end_) {
    auto due_ms = driver_->hints().tick_at_ms;
    if (due_ms && *due_ms <= clock_.wall_ms()) {
      driver_->tick(clock_.wall_ms(), output_);
      flush();
    }
    look();
    std::int64_t now_ms = clock_.steady_ms();
    sleeping_until_ms_ = next_look_ms();
    if (sleeping_until_ms_ > now_ms) changed_.wait_for(mutex_, std::chrono::milliseconds(sleeping_until_ms_ - now_ms));
  }
  return *std::exchange(end_, std::nullopt);
}

// Steady time. Code that makes something due sooner wakes the waiting thread.
std::int64_t AgentRun::next_look_ms() const {
  std::int64_t next_ms = clock_.steady_ms() + kRunTick.count();
  if (auto due_ms = driver_->hints().tick_at_ms) {
    next_ms = std::min(next_ms, clock_.steady_ms() + std::max<std::int64_t>(*due_ms - clock_.wall_ms(), 0));
  }
  return next_ms;
}

void AgentRun::look() {
  if (link_ == nullptr || end_) return;
  Hints hints = hints_now();
  if (cause_ == EndCause::none) {
    look_at_turn(hints);
    look_for_stall(hints);
    std::int64_t now_ms = clock_.steady_ms();
    Command stop;
    stop.kind = CommandKind::stop;
    if (std::optional<Breach> breach = breach_of(order_, hints, driver_->traits(), now_ms - started_ms_)) {
      set_cause(breach->cause, breach->message);
      events_.error(breach->code, breach->message);
      begin_end(stop);
    } else if (told_to_go_ms_ > 0 && now_ms - told_to_go_ms_ >= settings_.end_wait.count()) {
      told_to_go_ms_ = 0;
      events_.log("The agent's work is done, but it does not end by itself; ending it");
      link_->stop(settings_.ladder);
    }
  }
  if (next_look_ms() < sleeping_until_ms_) changed_.notify_all();
}

// An agent whose turn is over waits for the next message. Without an operator who may send one, none will come.
void AgentRun::look_at_turn(const Hints& hints) {
  bool done = hints.turn == Hints::Turn::idle && hints.turns > 0 && !hints.interrupted;
  if (!done || input_closed_ || settings_.keep_open) {
    idle_since_ms_ = 0;
    return;
  }
  std::int64_t now_ms = clock_.steady_ms();
  if (idle_since_ms_ == 0) idle_since_ms_ = now_ms;
  std::int64_t idle_ms = now_ms - idle_since_ms_;
  if (hints.open_words > 0 && idle_ms < (hints.queued_words > 0 ? kQueuedWait : kUnreadWait).count()) return;
  if (hints.background_tasks > 0) {
    if (idle_ms < kBackgroundWait.count()) return;
    events_.log("The agent is done but left work running in the background; not waiting for it any longer");
  }
  driver_->leave(output_);
  flush();
  close_input();
}

void AgentRun::close_input() {
  input_closed_ = true;
  told_to_go_ms_ = clock_.steady_ms();
  link_->close_input();
}

void AgentRun::look_for_stall(const Hints& hints) {
  if (stalled_ || hints.turn != Hints::Turn::running) return;
  if (clock_.steady_ms() - link_->last_output_ms() < settings_.stall.count()) return;
  stalled_ = true;
  events_.status(State::running, "No output for " + minutes_text(settings_.stall), "\"stalled\":true");
}

}  // namespace shepherd
