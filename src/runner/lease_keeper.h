// Says for this process that its runner is there, and renews the leases of all tasks that it has claimed: one request
// for all of them, several times within the shortest period, from the claim on. There is one request at a time; one
// without an answer is given up and repeated, and so is one that failed.
//
// A task that the server reports as lost, here or in answer to a post, is unclaimed or another runner's; the run of the
// task is notified once.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
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
  enum class Present : std::uint8_t { always, with_leases };

  // Always: from now to its end. With leases: from the first one on, while there are any.
  LeaseKeeper(Locate locate, net::ClientTls tls, RunnerCard card, Present present, const Clock& clock);
  // Says goodbye, if the server can be reached.
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

  const std::string& runner() const { return card_.runner; }

 private:
  struct Held {
    TaskClaim claim;
    std::function<void()> lost;  // empty before when_lost()
    bool is_lost = false;
  };
  // Calls `lost` of a task. Only its own task waits for it, not the next renewal.
  struct Teller {
    std::thread thread;
    bool done = false;
  };

  // On its thread.
  void run() EXCLUDES(mutex_);
  std::optional<std::vector<TaskClaim>> wait_until_due() EXCLUDES(mutex_);  // nullopt when stopping
  void present(const std::vector<TaskClaim>& claims) EXCLUDES(mutex_);
  void note_failure(const Error& error) EXCLUDES(mutex_);
  void tell_apart(const std::string& task, std::int64_t epoch) EXCLUDES(mutex_);

  // Marks the lease as lost; returns the callback to call, with the task among telling_, or an empty one.
  std::function<void()> lose(const std::string& task, std::int64_t epoch) REQUIRES(mutex_);
  void tell(const std::string& task, const std::function<void()>& lost) EXCLUDES(mutex_);
  void start() REQUIRES(mutex_);
  std::int64_t period_ms() const REQUIRES(mutex_);

  const RunnerCard card_;
  const Present present_;
  const Clock& clock_;
  RunnerApi api_;
  Mutex mutex_;
  CondVar changed_;
  std::map<std::string, Held> held_ GUARDED_BY(mutex_);
  std::set<std::string> telling_ GUARDED_BY(mutex_);  // tasks whose `lost` is being called
  std::list<Teller> tellers_ GUARDED_BY(mutex_);
  std::int64_t seconds_ GUARDED_BY(mutex_) = 0;  // the shorter period of the newest answer; 0 before the first
  std::int64_t due_ms_ GUARDED_BY(mutex_) = 0;   // steady
  bool greeted_ GUARDED_BY(mutex_) = false;      // the server knows of us
  bool refused_ GUARDED_BY(mutex_) = false;      // the newest answer was a refusal, which the log has
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_ GUARDED_BY(mutex_);
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
