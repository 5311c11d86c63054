// Renews the leases of all tasks that this process has claimed: each of them several times within its period, from the
// claim on. It retries while the server is down. After `lease_lost` the task is unclaimed or another runner's, and the
// run of the task is notified once.
//
// There is a thread per lease, up to kLeaseRenewers: a renewal that hangs does not delay those of other tasks.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

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

  // Renews the lease until drop().
  void keep(const TaskClaim& claim) EXCLUDES(mutex_);
  // Sets the callback for the loss, and calls it at once if the lease is already lost. `lost` is called once, on the
  // caller's thread or any other, and not after drop() has returned.
  void when_lost(const std::string& task, std::function<void()> lost) EXCLUDES(mutex_);
  // Another component of this process received the server's lease_lost.
  void told_lost(const std::string& task, std::int64_t epoch) EXCLUDES(mutex_);
  void drop(const std::string& task) EXCLUDES(mutex_);

  const std::string& runner() const { return runner_; }

 private:
  struct Held {
    TaskClaim claim;
    std::function<void()> lost;  // empty before when_lost()
    bool is_lost = false;
    std::int64_t due_ms = 0;  // steady
  };

  // On a thread of its own.
  void run(RunnerApi& api) EXCLUDES(mutex_);
  void renew(RunnerApi& api, const TaskClaim& claim) EXCLUDES(mutex_);
  void tell(const std::string& task, std::function<void()> lost) EXCLUDES(mutex_);
  std::int64_t period_ms(const TaskClaim& claim) const { return claim.seconds * 1'000 / kLeaseRenewals; }

  // A thread and its connection.
  struct Renewer {
    std::unique_ptr<RunnerApi> api;
    std::thread thread;
  };

  const Locate locate_;
  const net::ClientTls tls_;
  const std::string runner_;
  const Clock& clock_;
  Mutex mutex_;
  CondVar changed_;
  std::map<std::string, Held> held_ GUARDED_BY(mutex_);
  std::set<std::string> telling_ GUARDED_BY(mutex_);  // tasks whose `lost` is being called
  std::vector<Renewer> renewers_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
};

// Keeps a claim's lease for its lifetime. Threads: caller; told_lost() from any.
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
