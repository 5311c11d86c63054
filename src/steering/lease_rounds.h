// Renews leases in batches. A route that receives something from a holder notes it in memory; about every tenth of a
// lease one round writes the renewals in one transaction and finds the leases that are over. So a post pays for no
// write of its own. A renewal waits until a third of its lease's period has passed since the last one that was written:
// the lease in the store never ends earlier than what was noted, and a holder that only repeats that it is there costs
// few commits.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "journal/journal.h"
#include "steering/service_clock.h"
#include "store/lease.h"

namespace shepherd {

// What one round found.
struct LeaseRound {
  std::vector<Lease> over;        // as the store has them; they still exist
  std::vector<LeaseKey> missing;  // renewed, but the store has no such lease
};

// Threads: any; tick() from one.
class LeaseRounds {
 public:
  // With `replicas` a round is due even if nothing is to be renewed, so that the replicas' clocks stay together.
  LeaseRounds(Journal& journal, ServiceClock& clock, std::int64_t round_ms, bool replicas)
      : journal_(journal), clock_(clock), round_ms_(round_ms), replicas_(replicas) {}

  // The holder reports now: the lease lasts from now on for `period_ms`. The next round writes it.
  void renew(const LeaseKey& key, std::uint64_t epoch, std::int64_t period_ms) EXCLUDES(mutex_);
  // There is such a lease, which ends at this time unless it is renewed: a round will look at it then.
  void watch(const LeaseKey& key, std::int64_t until_ms) EXCLUDES(mutex_);
  void forget(const LeaseKey& key) EXCLUDES(mutex_);
  // Starts a round if one is due; `done` is called after its commit, on the writer's thread.
  void tick(std::function<void(LeaseRound)> done) EXCLUDES(mutex_);

 private:
  // Times are on the service clock.
  struct Heard {
    std::uint64_t epoch = 0;
    std::int64_t at_ms = 0, period_ms = 0;
    std::int64_t due_ms = 0;  // when the store must have it
  };
  using Renewals = std::map<LeaseKey, Heard>;
  // What this process knows of a lease.
  struct Known {
    std::int64_t end_ms = 0;
    std::uint64_t epoch = 0;      // of the renewal that was written last
    std::int64_t written_ms = 0;  // when that holder was heard; 0: none was written
  };

  bool is_due(std::int64_t now_ms) const REQUIRES(mutex_);
  Renewals take_due(std::int64_t now_ms) REQUIRES(mutex_);
  void finish(Renewals renewals, Result<LeaseRound> round, const std::function<void(LeaseRound)>& done)
      EXCLUDES(mutex_);

  Journal& journal_;
  ServiceClock& clock_;
  const std::int64_t round_ms_;
  const bool replicas_;
  mutable Mutex mutex_;
  Renewals renewals_ GUARDED_BY(mutex_);
  std::map<LeaseKey, Known> known_ GUARDED_BY(mutex_);
  std::int64_t next_ms_ GUARDED_BY(mutex_) = 0;  // the next round that only renews
  bool writing_ GUARDED_BY(mutex_) = false;
};

}  // namespace shepherd
