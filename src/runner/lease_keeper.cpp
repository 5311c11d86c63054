#include "runner/lease_keeper.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/log.h"

namespace shepherd {

LeaseKeeper::LeaseKeeper(Locate locate, net::ClientTls tls, RunnerCard card, Present present, const Clock& clock)
    : card_(std::move(card)), present_(present), clock_(clock), api_(std::move(locate), std::move(tls)) {
  if (present_ != Present::always) return;
  MutexLock lock(mutex_);
  start();
}

LeaseKeeper::~LeaseKeeper() {
  std::thread thread;
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
    thread = std::move(thread_);
  }
  api_.cancel();
  if (thread.joinable()) thread.join();
  std::list<Teller> tellers;
  bool greeted = false;
  {
    MutexLock lock(mutex_);
    tellers = std::move(tellers_);
    greeted = greeted_;
  }
  for (Teller& teller : tellers) teller.thread.join();
  if (!greeted) return;
  api_.resume();
  if (Result<void> left = api_.leave(card_.runner, kLeavePatience); !left) {
    spdlog::debug("cannot report to the server that this runner ends: {}", left.error().message);
  }
}

void LeaseKeeper::start() {
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
}

// Before the first answer only the claims say how long a lease is.
std::int64_t LeaseKeeper::period_ms() const {
  std::int64_t seconds = seconds_;
  for (const auto& [task, held] : held_) {
    if (!held.is_lost) seconds = seconds == 0 ? held.claim.seconds : std::min(seconds, held.claim.seconds);
  }
  return seconds == 0 ? kClaimPause.count() : seconds * 1'000 / kLeaseRenewals;
}

void LeaseKeeper::keep(const TaskClaim& claim) {
  MutexLock lock(mutex_);
  SHEPHERD_ASSERT(!held_.contains(claim.task), "this process runs a task once at a time");
  bool first = held_.empty() && present_ == Present::with_leases;
  held_[claim.task] = {claim, {}, false};
  std::int64_t next_ms = clock_.steady_ms() + period_ms();
  due_ms_ = first ? next_ms : std::min(due_ms_, next_ms);
  start();
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
  tell(task, lost);
}

std::function<void()> LeaseKeeper::lose(const std::string& task, std::int64_t epoch) {
  auto found = held_.find(task);
  if (found == held_.end() || found->second.claim.epoch != epoch || found->second.is_lost) return {};
  found->second.is_lost = true;
  std::function<void()> lost = std::exchange(found->second.lost, {});
  if (lost) telling_.insert(task);  // otherwise when_lost() will call it
  return lost;
}

void LeaseKeeper::told_lost(const std::string& task, std::int64_t epoch) {
  std::function<void()> lost;
  {
    MutexLock lock(mutex_);
    lost = lose(task, epoch);
  }
  if (lost) tell(task, lost);
}

void LeaseKeeper::tell(const std::string& task, const std::function<void()>& lost) {
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

void LeaseKeeper::run() {
  while (std::optional<std::vector<TaskClaim>> claims = wait_until_due()) present(*claims);
}

std::optional<std::vector<TaskClaim>> LeaseKeeper::wait_until_due() {
  MutexLock lock(mutex_);
  for (;;) {
    if (stopping_) return std::nullopt;
    std::vector<TaskClaim> claims;
    for (const auto& [task, held] : held_) {
      if (!held.is_lost) claims.push_back(held.claim);
    }
    std::int64_t left_ms = due_ms_ - clock_.steady_ms();
    if (claims.empty() && present_ == Present::with_leases) {
      changed_.wait(mutex_);
    } else if (left_ms > 0) {
      changed_.wait_for(mutex_, std::chrono::milliseconds(left_ms));
    } else {
      due_ms_ = clock_.steady_ms() + period_ms();
      return claims;
    }
  }
}

void LeaseKeeper::present(const std::vector<TaskClaim>& claims) {
  std::chrono::milliseconds timeout = kLeaseRenewTimeout;
  {
    MutexLock lock(mutex_);
    timeout = std::clamp(std::chrono::milliseconds(period_ms()), kLeaseRenewAtLeast, kLeaseRenewTimeout);
  }
  Result<Presence> presence = api_.present(card_, claims, timeout);
  if (!presence) return note_failure(presence.error());
  {
    MutexLock lock(mutex_);
    greeted_ = true;
    refused_ = false;
    seconds_ = std::min(presence->present_seconds, presence->lease_seconds);
    due_ms_ = std::min(due_ms_, clock_.steady_ms() + period_ms());
    for (auto teller = tellers_.begin(); teller != tellers_.end();) {
      if (teller->done) teller->thread.join();
      teller = teller->done ? tellers_.erase(teller) : std::next(teller);
    }
  }
  for (const std::string& task : presence->lost) {
    auto claim = std::ranges::find(claims, task, &TaskClaim::task);
    if (claim != claims.end()) tell_apart(task, claim->epoch);
  }
}

void LeaseKeeper::note_failure(const Error& error) {
  bool refused = error.code == ErrorCode::not_found || error.reason == "method_not_allowed";
  bool tell = false;
  {
    MutexLock lock(mutex_);
    if (stopping_) return;
    // A server that restarts should soon know of us again.
    due_ms_ = std::min(due_ms_, clock_.steady_ms() + kClaimPause.count());
    tell = refused && !std::exchange(refused_, refused);
  }
  if (tell) {
    log_error("the server does not know runners and renews no leases; it is older than this runner: {}", error.message);
  } else {
    spdlog::debug("cannot report to the server that this runner is there: {}", error.message);
  }
}

// The run of a task can take its time, and the other leases must be renewed meanwhile.
void LeaseKeeper::tell_apart(const std::string& task, std::int64_t epoch) {
  MutexLock lock(mutex_);
  std::function<void()> lost = lose(task, epoch);
  if (!lost) return;
  Teller& teller = tellers_.emplace_back();
  teller.thread = std::thread([this, task, lost = std::move(lost), &teller] {
    tell(task, lost);
    MutexLock done(mutex_);
    teller.done = true;
  });
}

}  // namespace shepherd
