#include "runner/lease_keeper.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/log.h"

namespace shepherd {

LeaseKeeper::LeaseKeeper(Locate locate, net::ClientTls tls, std::string runner, const Clock& clock)
    : api_(std::move(locate), std::move(tls)), runner_(std::move(runner)), clock_(clock), thread_([this] { run(); }) {}

LeaseKeeper::~LeaseKeeper() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  api_.cancel();
  thread_.join();
}

void LeaseKeeper::keep(const TaskClaim& claim, std::function<void()> lost) {
  MutexLock lock(mutex_);
  held_[claim.task] = {claim, std::move(lost), clock_.steady_ms() + period_ms(claim)};
  changed_.notify_all();
}

void LeaseKeeper::drop(const std::string& task) {
  MutexLock lock(mutex_);
  held_.erase(task);
  while (telling_ == task) changed_.wait(mutex_);
}

void LeaseKeeper::run() {
  for (;;) {
    std::optional<TaskClaim> due;
    {
      MutexLock lock(mutex_);
      while (!stopping_ && !due) {
        auto first = std::ranges::min_element(held_, {}, [](const auto& each) { return each.second.due_ms; });
        if (first == held_.end()) {
          changed_.wait(mutex_);
          continue;
        }
        std::int64_t left_ms = first->second.due_ms - clock_.steady_ms();
        if (left_ms > 0) {
          changed_.wait_for(mutex_, std::chrono::milliseconds(left_ms));
          continue;
        }
        due = first->second.claim;
        first->second.due_ms = clock_.steady_ms() + period_ms(*due);
      }
      if (stopping_) return;
    }
    renew(due->task, *due);
  }
}

void LeaseKeeper::renew(const std::string& task, const TaskClaim& claim) {
  Result<void> renewed = api_.renew(claim, runner_);
  if (renewed) return;
  const Error& error = renewed.error();
  bool gone = error.reason == "lease_lost" || error.code == ErrorCode::not_found;
  if (!gone) return spdlog::debug("the lease of {} could not be renewed: {}", task, error.message);
  std::function<void()> lost;
  {
    MutexLock lock(mutex_);
    auto found = held_.find(task);
    if (found == held_.end()) return;
    lost = std::move(found->second.lost);
    held_.erase(found);
    telling_ = task;
  }
  lost();
  MutexLock lock(mutex_);
  telling_.clear();
  changed_.notify_all();
}

}  // namespace shepherd
