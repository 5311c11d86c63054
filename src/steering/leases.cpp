#include "steering/leases.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "steering/limits.h"
#include "store/lease_fence.h"

namespace shepherd {

std::int64_t Leases::now_ms() const {
  return passed_ms_ + std::min<std::int64_t>(clock_.steady_ms() - ticked_ms_, kMostLeaseStep.count());
}

std::set<std::string> Leases::runners() const {
  std::set<std::string> names;
  MutexLock lock(mutex_);
  for (const auto& [task, lease] : leases_) names.insert(lease.runner);
  return names;
}

void Leases::grant(const std::string& task, std::string runner, std::uint64_t epoch) {
  SHEPHERD_ASSERT(epoch > 0, "epoch 0 says that nobody has claimed the task");
  MutexLock lock(mutex_);
  Lease& lease = leases_[task];
  if (lease.epoch == epoch) {  // its runner has asked again
    lease.until_ms = period_end();
    lease.heard = true;
    return;
  }
  lease = {std::move(runner), epoch, period_end(), false, false};
  count_ = leases_.size();
}

void Leases::restore(const LostLease& lost) {
  MutexLock lock(mutex_);
  leases_[lost.task] = {lost.runner, lost.epoch, period_end(), lost.heard, lost.token_taken};
  count_ = leases_.size();
}

bool Leases::end(const std::string& task) {
  MutexLock lock(mutex_);
  bool given = given_unclaimed_.erase(task) > 0;
  auto found = leases_.find(task);
  if (found == leases_.end()) return given;
  bool token_taken = given || found->second.token_taken;
  leases_.erase(found);
  count_ = leases_.size();
  return token_taken;
}

Result<std::uint64_t> Leases::take_token(const std::string& task, bool claimed, std::optional<std::uint64_t> epoch) {
  MutexLock lock(mutex_);
  auto found = leases_.find(task);
  if (found == leases_.end() && claimed) {
    return fail(ErrorCode::conflict, "not_claimed", "Only the runner that has claimed the task gets its token.");
  }
  if (found == leases_.end()) {
    if (given_unclaimed_.insert(task).second) return std::uint64_t{0};
    return fail(ErrorCode::conflict, "token_taken",
                "The token of this task was given out already. A runner that claims the task gets another one.");
  }
  if (!epoch) {
    return fail(ErrorCode::conflict, "lease_needed",
                "Only the runner that has claimed the task gets its token. Send the claim's leaseEpoch in the header "
                "Shepherd-Lease.");
  }
  if (found->second.epoch != *epoch) return fail(lease_lost());
  if (std::exchange(found->second.token_taken, true)) {
    return fail(ErrorCode::conflict, "token_taken", "The token of this lease was given out already.");
  }
  return found->second.epoch;
}

void Leases::set_token_taken(const std::string& task, std::uint64_t epoch, bool taken) {
  MutexLock lock(mutex_);
  if (epoch == 0) {
    if (taken) {
      given_unclaimed_.insert(task);
    } else {
      given_unclaimed_.erase(task);
    }
    return;
  }
  auto found = leases_.find(task);
  if (found != leases_.end() && found->second.epoch == epoch) found->second.token_taken = taken;
}

void Leases::end(const std::string& task, std::uint64_t epoch) {
  MutexLock lock(mutex_);
  auto found = leases_.find(task);
  if (found != leases_.end() && found->second.epoch == epoch) leases_.erase(found);
  count_ = leases_.size();
}

bool Leases::held(const std::string& task) const {
  MutexLock lock(mutex_);
  return leases_.contains(task);
}

Result<void> Leases::renew(const std::string& task, std::uint64_t epoch, const std::string& runner) {
  MutexLock lock(mutex_);
  auto found = leases_.find(task);
  if (found == leases_.end() || found->second.epoch != epoch || (!runner.empty() && found->second.runner != runner)) {
    return fail(lease_lost());
  }
  found->second.until_ms = period_end();
  found->second.heard = true;
  return {};
}

void Leases::touch(const std::string& task) {
  if (size() == 0) return;
  MutexLock lock(mutex_);
  auto found = leases_.find(task);
  if (found == leases_.end()) return;
  found->second.until_ms = period_end();
  found->second.heard = true;
}

std::vector<LostLease> Leases::take_lost() {
  std::vector<LostLease> lost;
  MutexLock lock(mutex_);
  passed_ms_ = now_ms();
  ticked_ms_ = clock_.steady_ms();
  for (auto lease = leases_.begin(); lease != leases_.end();) {
    if (lease->second.until_ms > passed_ms_) {
      ++lease;
      continue;
    }
    const Lease& over = lease->second;
    lost.push_back({lease->first, over.runner, over.epoch, over.heard, over.token_taken});
    lease = leases_.erase(lease);
  }
  count_ = leases_.size();
  return lost;
}

}  // namespace shepherd
