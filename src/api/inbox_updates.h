// Sends `inbox_update` messages when the inbox has changed, to WebSocket clients that follow many logs and may see all
// of them, at most one every kInboxUpdateInterval.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "api/live_registry.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "follow/inbox.h"

namespace shepherd {

// Stop the inbox before destroying this.
// Threads: any.
class InboxUpdates {
 public:
  InboxUpdates(Inbox* inbox, const Clock& clock, LiveRegistry& live);

  // Call about every second: sends delayed updates.
  void tick();

 private:
  void changed(std::size_t total) EXCLUDES(mutex_);
  void tell(std::size_t total, std::shared_ptr<const void> told);

  const Clock& clock_;
  LiveRegistry& live_;
  Mutex mutex_;
  std::optional<std::size_t> untold_ GUARDED_BY(mutex_);
  std::int64_t told_ms_ GUARDED_BY(mutex_);
  std::weak_ptr<const void> telling_ GUARDED_BY(mutex_);  // alive while an io thread has not sent the last one
};

}  // namespace shepherd
