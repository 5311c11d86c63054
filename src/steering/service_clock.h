// The time that the installation has been in service: it passes only while a server runs. Leases are measured with it,
// so that none ages while no runner can renew it: while the server is stopped, starved or suspended.
//
// Every process counts its own steady time. A transaction that depends on the time takes the later one of its own and
// the stored time and stores that, so that several processes agree without comparing their clocks.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "store/event_store.h"

namespace shepherd {

// Threads: any.
class ServiceClock {
 public:
  explicit ServiceClock(const Clock& clock) : clock_(clock), counted_ms_(clock.steady_ms()) {}

  // Continues at the time that the store has.
  Result<void> restore(const EventStore& store) EXCLUDES(mutex_);
  // As far as this process knows. However long the last count is ago, at most kMostLeaseStep of it passes.
  std::int64_t now_ms() const EXCLUDES(mutex_);
  // Counts the time since the last call. Call it about every kServerTick.
  void count() EXCLUDES(mutex_);
  // The time of this transaction, not before that of any earlier one; the store keeps it.
  Result<std::int64_t> now_in(WriteTxn& txn) EXCLUDES(mutex_);

 private:
  std::int64_t passed() const REQUIRES(mutex_);
  void advance_to(std::int64_t ms) REQUIRES(mutex_);

  const Clock& clock_;
  mutable Mutex mutex_;
  std::int64_t service_ms_ GUARDED_BY(mutex_) = 0;  // at the last count
  std::int64_t counted_ms_ GUARDED_BY(mutex_);      // steady time of the last count
};

}  // namespace shepherd
