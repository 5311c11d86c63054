// `inbox_update` messages say that the inbox has changed. They go to clients that follow many logs by WebSocket and may
// see all of them, at most one every kInboxUpdateInterval.
#pragma once

#include <cstdint>
#include <optional>

#include "api/live_registry.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "follow/inbox.h"

namespace shepherd {

// The inbox must be stopped before this goes.
// Threads: any.
class InboxUpdates {
 public:
  InboxUpdates(Inbox* inbox, const Clock& clock, LiveRegistry& live);

  // About every second: tells what had to wait.
  void tick();

 private:
  void changed(std::size_t total) EXCLUDES(mutex_);
  void tell(std::size_t total);

  const Clock& clock_;
  LiveRegistry& live_;
  Mutex mutex_;
  std::optional<std::size_t> untold_ GUARDED_BY(mutex_);
  std::int64_t told_ms_ GUARDED_BY(mutex_);
};

}  // namespace shepherd
