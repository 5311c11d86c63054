// The state that all handlers share: the parts of the API, the live streams, and the number of active calls.
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

#include "access/rate_limit.h"
#include "api/api.h"
#include "api/inbox_updates.h"
#include "api/live_registry.h"
#include "api/readiness.h"
#include "api/task_updates.h"

namespace shepherd {

// Threads: any.
struct Core {
  explicit Core(ApiParts given)
      : parts(std::move(given)),
        failed_logins(parts.clock),
        live(parts.metrics),
        readiness(parts.journal, parts.clock),
        updates(parts.journal, parts.steering, parts.redaction(), parts.workers, parts.clock, live),
        inbox_updates(parts.inbox, parts.clock, live) {}

  ApiParts parts;
  FailedLoginLimit failed_logins;
  LiveRegistry live;
  Readiness readiness;
  TaskUpdates updates;
  InboxUpdates inbox_updates;
  std::atomic<std::size_t> in_flight{0};
};

// Counts one call from the io thread until its answer.
// Threads: any; move-only.
class InFlight {
 public:
  explicit InFlight(Core& core) : core_(&core) { core.in_flight.fetch_add(1, std::memory_order_relaxed); }
  InFlight(InFlight&& other) noexcept : core_(std::exchange(other.core_, nullptr)) {}
  InFlight& operator=(InFlight&& other) noexcept {
    std::swap(core_, other.core_);
    return *this;
  }
  ~InFlight() {
    if (core_ != nullptr) core_->in_flight.fetch_sub(1, std::memory_order_release);
  }
  Core& core() const { return *core_; }

 private:
  Core* core_;
};

}  // namespace shepherd
