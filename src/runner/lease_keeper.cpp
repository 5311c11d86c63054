#include "runner/lease_keeper.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/assert.h"
#include "base/log.h"

namespace shepherd {

LeaseKeeper::LeaseKeeper(Locate locate, net::ClientTls tls, std::string runner, const Clock& clock)
    : locate_(std::move(locate)), tls_(std::move(tls)), runner_(std::move(runner)), clock_(clock) {}

LeaseKeeper::~LeaseKeeper() {
  std::vector<Renewer> renewers;
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
    renewers = std::move(renewers_);
  }
  for (Renewer& each : renewers) each.api->cancel();
  for (Renewer& each : renewers) each.thread.join();
}

void LeaseKeeper::keep(const TaskClaim& claim) {
  MutexLock lock(mutex_);
  SHEPHERD_ASSERT(!held_.contains(claim.task), "this process runs a task once at a time");
  held_[claim.task] = {claim, {}, false, clock_.steady_ms() + period_ms(claim)};
  if (renewers_.size() < std::min(held_.size(), kLeaseRenewers)) {
    auto api = std::make_unique<RunnerApi>(locate_, tls_);
    std::thread thread([this, mine = api.get()] { run(*mine); });
    renewers_.push_back({std::move(api), std::move(thread)});
  }
  changed_.notify_all();
}

void LeaseKeeper::when_lost(const std::string& task, std::function<void()> lost) {
  {
    MutexLock lock(mutex_);
    auto found = held_.find(task);
    if (found == held_.end()) return;
    if (!found->second.is_lost) {
      found->second.lost = std::move(lost);
      return;
    }
    telling_.insert(task);
  }
  tell(task, std::move(lost));
}

void LeaseKeeper::told_lost(const std::string& task, std::int64_t epoch) {
  std::function<void()> lost;
  {
    MutexLock lock(mutex_);
    auto found = held_.find(task);
    if (found == held_.end() || found->second.claim.epoch != epoch || found->second.is_lost) return;
    found->second.is_lost = true;
    lost = std::exchange(found->second.lost, {});
    if (!lost) return;  // when_lost() will call it
    telling_.insert(task);
  }
  tell(task, std::move(lost));
}

void LeaseKeeper::tell(const std::string& task, std::function<void()> lost) {
  lost();
  MutexLock lock(mutex_);
  telling_.erase(task);
  changed_.notify_all();
}

void LeaseKeeper::drop(const std::string& task) {
  MutexLock lock(mutex_);
  held_.erase(task);
  while (telling_.contains(task)) changed_.wait(mutex_);
}

void LeaseKeeper::run(RunnerApi& api) {
  auto due_of = [](const auto& each) {
    return each.second.is_lost ? std::numeric_limits<std::int64_t>::max() : each.second.due_ms;
  };
  for (;;) {
    std::optional<TaskClaim> due;
    {
      MutexLock lock(mutex_);
      while (!stopping_ && !due) {
        auto first = std::ranges::min_element(held_, {}, due_of);
        if (first == held_.end() || first->second.is_lost) {
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
    renew(api, *due);
  }
}

void LeaseKeeper::renew(RunnerApi& api, const TaskClaim& claim) {
  Result<void> renewed = api.renew(claim, runner_, kLeaseRenewTimeout);
  if (renewed) return;
  const Error& error = renewed.error();
  bool gone = error.reason == "lease_lost" || error.code == ErrorCode::not_found;
  if (gone) return told_lost(claim.task, claim.epoch);
  spdlog::debug("the lease of {} could not be renewed: {}", claim.task, error.message);
}

}  // namespace shepherd
