// The leases of runners on tasks. A claim grants a lease, every request of the runner renews it, and it ends after a
// period of silence. Its number (the epoch) is the number of the granting event, so the log preserves it. Its clock is
// in memory and runs only while the server does: after a restart every lease gets a full period, and no lease ages
// while the server stands still (stopped, starved, suspended).
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"

namespace shepherd {

struct LostLease {
  std::string task, runner;
  std::uint64_t epoch = 0;
  bool heard = false;  // the runner sent something after its claim
  bool token_taken = false;
};

// Threads: any.
class Leases {
 public:
  Leases(const Clock& clock, std::int64_t lease_seconds)
      : clock_(clock), lease_seconds_(lease_seconds), ticked_ms_(clock.steady_ms()) {}

  std::int64_t lease_seconds() const { return lease_seconds_; }
  // Starts the clock of a lease that a transaction has given, or renews it if it runs already.
  void grant(const std::string& task, std::string runner, std::uint64_t epoch) EXCLUDES(mutex_);
  // The loss could not be written, so the lease gets another full period and keeps everything else.
  void restore(const LostLease& lost) EXCLUDES(mutex_);
  // Returns true if a token was given out under the lease, or for the task before any claim.
  bool end(const std::string& task) EXCLUDES(mutex_);
  // Ends the lease only if it is still this one; a newer lease of the same task stays.
  void end(const std::string& task, std::uint64_t epoch) EXCLUDES(mutex_);
  bool held(const std::string& task) const EXCLUDES(mutex_);
  std::size_t size() const { return count_.load(std::memory_order_relaxed); }

  // conflict/lease_lost if the task has no lease with this number (and, if given, of this runner).
  Result<void> renew(const std::string& task, std::uint64_t epoch, const std::string& runner = {}) EXCLUDES(mutex_);
  // The repository token is given once per lease, to its holder, and once per unclaimed task; after that
  // conflict/token_taken. conflict/not_claimed if the lease of a claimed task is over, lease_needed if a lease exists
  // and no epoch is given, lease_lost if it is another runner's. Returns the epoch, or 0 for an unclaimed task.
  Result<std::uint64_t> take_token(const std::string& task, bool claimed, std::optional<std::uint64_t> epoch)
      EXCLUDES(mutex_);
  // Records that the token was not given after all, or (true) that an earlier server process gave it. Epoch 0 means
  // without a claim.
  void set_token_taken(const std::string& task, std::uint64_t epoch, bool taken) EXCLUDES(mutex_);
  // A client posted to the task; if the task has a lease, that is its runner.
  void touch(const std::string& task) EXCLUDES(mutex_);
  // Ends and returns the expired leases. Call about every kServerTick, because this advances the clock.
  std::vector<LostLease> take_lost() EXCLUDES(mutex_);
  // Names of the runners that hold a lease.
  std::set<std::string> runners() const EXCLUDES(mutex_);

 private:
  struct Lease {
    std::string runner;
    std::uint64_t epoch = 0;
    std::int64_t until_ms = 0;  // on the leases' own clock
    bool heard = false;
    bool token_taken = false;
  };
  // However long the last tick is ago, at most kMostLeaseStep of it counts.
  std::int64_t now_ms() const REQUIRES(mutex_);
  std::int64_t period_end() const REQUIRES(mutex_) { return now_ms() + lease_seconds_ * 1'000; }

  const Clock& clock_;
  const std::int64_t lease_seconds_;
  std::atomic<std::size_t> count_{0};  // so that posts to tasks without leases need no lock
  mutable Mutex mutex_;
  std::int64_t passed_ms_ GUARDED_BY(mutex_) = 0;  // on the leases' own clock, up to the last tick
  std::int64_t ticked_ms_ GUARDED_BY(mutex_);      // steady time of the last tick
  std::unordered_map<std::string, Lease> leases_ GUARDED_BY(mutex_);
  std::unordered_set<std::string> given_unclaimed_ GUARDED_BY(mutex_);  // unclaimed tasks whose token was given
};

}  // namespace shepherd
