// The state that all handlers share: the parts of the API, the live streams, and the number of active calls.
#pragma once

#include <memory>
#include <utility>

#include "access/rate_limit.h"
#include "api/api.h"
#include "api/inbox_updates.h"
#include "api/live_registry.h"
#include "api/readiness.h"
#include "api/task_updates.h"
#include "base/drain.h"
#include "net/timers.h"

namespace shepherd {

// Threads: any.
struct Core {
  explicit Core(ApiParts given)
      : parts(std::move(given)),
        failed_logins(parts.clock),
        live(parts.metrics),
        readiness(parts.journal, parts.clock),
        updates(parts.journal, parts.steering, parts.redaction(), parts.lanes.feeds, parts.clock, live),
        inbox_updates(parts.inbox, parts.clock, live) {}

  ApiParts parts;
  FailedLoginLimit failed_logins;
  LiveRegistry live;
  Readiness readiness;
  TaskUpdates updates;
  InboxUpdates inbox_updates;
  std::unique_ptr<net::Timers> chat_timers;  // of late answers; owned by the chat's loop
  Drain active;                              // calls, from the io thread until their answer
};

// One active call.
// Threads: any; move-only.
class InFlight {
 public:
  explicit InFlight(Core& core) : core_(&core), pass_(core.active) {}
  Core& core() const { return *core_; }

 private:
  Core* core_;
  Drain::Pass pass_;
};

}  // namespace shepherd
