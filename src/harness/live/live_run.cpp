#include "harness/live/live_run.h"

#include <utility>

namespace shepherd::harness {

void LiveLog::add(std::string event_json) {
  MutexLock lock(mutex_);
  events_.push_back(std::move(event_json));
  changed_.notify_all();
}

std::optional<std::string> LiveLog::find(const Pattern& pattern, std::chrono::milliseconds timeout) {
  std::int64_t deadline_ms = clock_.steady_ms() + timeout.count();
  std::size_t looked_at = 0;
  MutexLock lock(mutex_);
  while (true) {
    for (; looked_at < events_.size(); ++looked_at) {
      if (pattern(events_[looked_at])) return events_[looked_at];
    }
    std::int64_t left_ms = deadline_ms - clock_.steady_ms();
    if (closed_ || left_ms <= 0) return {};
    changed_.wait_for(mutex_, std::chrono::milliseconds(left_ms));
  }
}

void LiveLog::close() {
  MutexLock lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

std::vector<std::string> LiveLog::events() const {
  MutexLock lock(mutex_);
  return events_;
}

LiveRun::LiveRun(TaskOrder order, Redactor redactor)
    : order_(std::move(order)),
      redactor_(std::move(redactor)),
      events_(log_, redactor_, clock_),
      run_(std::make_unique<AgentRun>(order_, events_, clock_)) {}

Result<std::unique_ptr<LiveRun>> LiveRun::start(TaskOrder order, AgentSettings settings) {
  auto redactor = Redactor::create(RedactOptions());
  if (!redactor) return fail(std::move(redactor.error()));
  std::unique_ptr<LiveRun> live(new LiveRun(std::move(order), *std::move(redactor)));
  live->thread_ = std::thread([run = live.get(), settings = std::move(settings)] {
    AgentOutcome outcome = run->run_->run(settings);
    run->log_.close();
    MutexLock lock(run->mutex_);
    run->outcome_ = std::move(outcome);
    run->ended_.notify_all();
  });
  return live;
}

LiveRun::~LiveRun() {
  run_->kill();
  if (thread_.joinable()) thread_.join();
}

std::optional<AgentOutcome> LiveRun::wait(std::chrono::milliseconds timeout) {
  std::int64_t deadline_ms = clock_.steady_ms() + timeout.count();
  MutexLock lock(mutex_);
  while (!outcome_) {
    std::int64_t left_ms = deadline_ms - clock_.steady_ms();
    if (left_ms <= 0) return {};
    ended_.wait_for(mutex_, std::chrono::milliseconds(left_ms));
  }
  return outcome_;
}

}  // namespace shepherd::harness
