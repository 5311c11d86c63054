// Who works on what: a lease is given with a claim, kept by whatever the runner sends, and over when it says nothing
// for a while. Its number (the epoch) is the number of the event that gave it, so it survives in the log; its clock is
// here and runs only while the server does: after a restart every lease gets a full period, and while the server stood
// still (stopped, starved, suspended) no lease grew older.
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
  bool heard = false;  // the runner was heard of after its claim
  bool token_taken = false;
};

// Threads: any.
class Leases {
 public:
  Leases(const Clock& clock, std::int64_t lease_seconds)
      : clock_(clock), lease_seconds_(lease_seconds), ticked_ms_(clock.steady_ms()) {}

  std::int64_t lease_seconds() const { return lease_seconds_; }
  void grant(const std::string& task, std::string runner, std::uint64_t epoch) EXCLUDES(mutex_);
  // That it was lost could not be written: another full period, and everything else as it was.
  void restore(const LostLease& lost) EXCLUDES(mutex_);
  // True when a token was given out under it, or for the task before its first claim.
  bool end(const std::string& task) EXCLUDES(mutex_);
  // Ends it only when it is still this one: a newer one of the same task stays.
  void end(const std::string& task, std::uint64_t epoch) EXCLUDES(mutex_);
  bool held(const std::string& task) const EXCLUDES(mutex_);
  std::size_t size() const { return count_.load(std::memory_order_relaxed); }

  // conflict/lease_lost when the task has no lease of this number (and, when given, of this runner).
  Result<void> renew(const std::string& task, std::uint64_t epoch, const std::string& runner = {}) EXCLUDES(mutex_);
  // The repository token is given once per lease, to its holder, and once per task that has not been claimed so far:
  // conflict/token_taken when it was. conflict/not_claimed when the lease of a claimed task is over, lease_needed when
  // a lease holds the task and no epoch is given, lease_lost when it is another one's. Returns the epoch; 0: not
  // claimed.
  Result<std::uint64_t> take_token(const std::string& task, bool claimed, std::optional<std::uint64_t> epoch)
      EXCLUDES(mutex_);
  // It was not given after all, or (true) it was in an earlier life of the server. Epoch 0: without a claim.
  void set_token_taken(const std::string& task, std::uint64_t epoch, bool taken) EXCLUDES(mutex_);
  // A producer posted to the task: if the task has a lease, that is its runner.
  void touch(const std::string& task) EXCLUDES(mutex_);
  // The leases whose time is over; they end here. About every kServerTick: this is what moves the clock.
  std::vector<LostLease> take_lost() EXCLUDES(mutex_);
  // Who has a task.
  std::set<std::string> runners() const EXCLUDES(mutex_);

 private:
  struct Lease {
    std::string runner;
    std::uint64_t epoch = 0;
    std::int64_t until_ms = 0;  // of the leases' own clock
    bool heard = false;
    bool token_taken = false;
  };
  // However long it is since the last tick, no more than kMostLeaseStep of it counts.
  std::int64_t now_ms() const REQUIRES(mutex_);
  std::int64_t period_end() const REQUIRES(mutex_) { return now_ms() + lease_seconds_ * 1'000; }

  const Clock& clock_;
  const std::int64_t lease_seconds_;
  std::atomic<std::size_t> count_{0};  // so that posts to tasks without leases take no lock
  mutable Mutex mutex_;
  std::int64_t passed_ms_ GUARDED_BY(mutex_) = 0;  // on the leases' own clock, up to the last tick
  std::int64_t ticked_ms_ GUARDED_BY(mutex_);      // steady: when that was
  std::unordered_map<std::string, Lease> leases_ GUARDED_BY(mutex_);
  std::unordered_set<std::string> given_unclaimed_ GUARDED_BY(mutex_);  // tasks whose token went out without a claim
};

}  // namespace shepherd
