// The leases of runners on tasks. A claim grants a lease, everything that its runner sends renews it, and it ends after
// a period of silence. Its number is its epoch. Whether a runner has a task is said
// by the task's row (store/lease_fence.h); the lease says until when.
//
// This process follows which tasks have a lease, to note cheaply which runner has reported; it decides nothing by that.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "journal/journal.h"
#include "steering/lease_rounds.h"
#include "steering/service_clock.h"

namespace shepherd {

// Threads: any.
class Leases {
 public:
  Leases(Journal& journal, const Clock& clock, LeaseRounds& rounds, ServiceClock& service, std::int64_t lease_seconds)
      : journal_(journal), clock_(clock), rounds_(rounds), service_(service), lease_seconds_(lease_seconds) {}

  std::int64_t lease_seconds() const { return lease_seconds_; }
  // In the transaction of a claim: the task is this runner's alone.
  Result<void> grant(WriteTxn& txn, const std::string& task, const std::string& runner, std::uint64_t epoch);
  // After a start: every lease gets a full period, because no runner could report meanwhile. Adds the row that a task
  // of an earlier version lacks.
  Result<void> restore(WriteTxn& txn, const TaskRow& task);
  // A lease is over: ends it, and with it the task, or gives the task to another runner if this one never reported.
  // Does nothing if it was renewed meanwhile. `lost` is called if a runner lost its task.
  void lose(const Lease& lease, std::function<void()> lost);

  // What the change stream says. One call at a time.
  void note(const TaskRow& task) EXCLUDES(mutex_);
  void forget(const std::string& task) EXCLUDES(mutex_);

  // A client posted to the task; if the task has a lease, that is its runner.
  void touch(const std::string& task) EXCLUDES(mutex_);
  // The same for a client that names its lease, which may be over; the commit of what it posts decides.
  void touch(const std::string& task, std::uint64_t epoch) EXCLUDES(mutex_);
  // conflict/lease_lost if the task has no lease with this number (and, if given, of this runner).
  Result<void> renew(const TaskRow& task, std::uint64_t epoch, const std::string& runner = {}) EXCLUDES(mutex_);
  // Whether this process knows that the task has this lease; false may mean that it does not know yet.
  bool knows(const std::string& task, std::uint64_t epoch) const EXCLUDES(mutex_);

  std::size_t size() const { return count_.load(std::memory_order_relaxed); }
  std::set<std::string> runners() const EXCLUDES(mutex_);  // that have a lease

 private:
  struct Held {
    std::string runner;
    std::uint64_t epoch = 0;
  };
  std::int64_t period_ms() const { return lease_seconds_ * 1'000; }

  Journal& journal_;
  const Clock& clock_;
  LeaseRounds& rounds_;
  ServiceClock& service_;
  const std::int64_t lease_seconds_;
  std::atomic<std::size_t> count_{0};  // so that posts to tasks without leases need no lock
  mutable Mutex mutex_;
  std::unordered_map<std::string, Held> held_ GUARDED_BY(mutex_);
};

// In a transaction: ends every lease on the task.
Result<void> end_task_leases(WriteTxn& txn, const std::string& task);

}  // namespace shepherd
