// Keeps the leases of all tasks that this process has claimed: one thread that renews each of them several times within
// its period, from the claim on. A server that is away is asked again; one that says `lease_lost` has taken the task
// back or given it to another runner, and the run that works on it is told, once.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"
#include "runner/limits.h"
#include "runner/runner_api.h"

namespace shepherd {

// Threads: any.
class LeaseKeeper {
 public:
  LeaseKeeper(Locate locate, net::ClientTls tls, std::string runner, const Clock& clock);
  ~LeaseKeeper();
  LeaseKeeper(const LeaseKeeper&) = delete;
  LeaseKeeper& operator=(const LeaseKeeper&) = delete;

  // Until drop().
  void keep(const TaskClaim& claim) EXCLUDES(mutex_);
  // What is to be done when it is lost; at once, when it is lost already. `lost` is called once, on the caller's thread
  // or on any other, and not after drop() has returned.
  void when_lost(const std::string& task, std::function<void()> lost) EXCLUDES(mutex_);
  // The server has said so to another part of this process.
  void told_lost(const std::string& task, std::int64_t epoch) EXCLUDES(mutex_);
  void drop(const std::string& task) EXCLUDES(mutex_);

  const std::string& runner() const { return runner_; }

 private:
  struct Held {
    TaskClaim claim;
    std::function<void()> lost;  // empty: not set yet
    bool is_lost = false;
    std::int64_t due_ms = 0;  // steady
  };

  void run() EXCLUDES(mutex_);
  void renew(const TaskClaim& claim) EXCLUDES(mutex_);
  void tell(const std::string& task, std::function<void()> lost) EXCLUDES(mutex_);
  std::int64_t period_ms(const TaskClaim& claim) const { return claim.seconds * 1'000 / kLeaseRenewals; }

  RunnerApi api_;  // the thread's
  const std::string runner_;
  const Clock& clock_;
  Mutex mutex_;
  CondVar changed_;
  std::map<std::string, Held> held_ GUARDED_BY(mutex_);
  std::set<std::string> telling_ GUARDED_BY(mutex_);  // the tasks whose `lost` is being called
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: it uses all of the above
};

// A claim that is kept while this lives. Threads: caller; told_lost() from any.
class KeptLease {
 public:
  KeptLease(LeaseKeeper& keeper, TaskClaim claim) : keeper_(&keeper), claim_(std::move(claim)) {
    keeper_->keep(claim_);
  }
  ~KeptLease() {
    if (keeper_ != nullptr) keeper_->drop(claim_.task);
  }
  KeptLease(KeptLease&& other) noexcept
      : keeper_(std::exchange(other.keeper_, nullptr)), claim_(std::move(other.claim_)) {}
  KeptLease& operator=(KeptLease&& other) noexcept {
    std::swap(keeper_, other.keeper_);
    std::swap(claim_, other.claim_);
    return *this;
  }

  const TaskClaim& claim() const { return claim_; }
  void when_lost(std::function<void()> lost) const { keeper_->when_lost(claim_.task, std::move(lost)); }
  // It is kept no longer. A post that is still under way may call told_lost() afterwards.
  void drop() const { keeper_->drop(claim_.task); }
  void told_lost() const { keeper_->told_lost(claim_.task, claim_.epoch); }

 private:
  LeaseKeeper* keeper_;
  TaskClaim claim_;
};

}  // namespace shepherd
