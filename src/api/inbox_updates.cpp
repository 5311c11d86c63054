#include "api/inbox_updates.h"

#include <string>
#include <utility>

#include "api/frames.h"
#include "api/limits.h"

namespace shepherd {

InboxUpdates::InboxUpdates(Inbox* inbox, const Clock& clock, LiveRegistry& live)
    : clock_(clock), live_(live), told_ms_(clock.steady_ms() - kInboxUpdateInterval.count()) {
  if (inbox != nullptr) inbox->on_change([this](std::size_t total) { changed(total); });
}

void InboxUpdates::changed(std::size_t total) {
  {
    MutexLock lock(mutex_);
    untold_ = total;
  }
  tick();
}

void InboxUpdates::tick() {
  std::size_t total = 0;
  std::shared_ptr<const void> told;
  {
    MutexLock lock(mutex_);
    std::int64_t now_ms = clock_.steady_ms();
    if (!untold_ || now_ms - told_ms_ < kInboxUpdateInterval.count() || !telling_.expired()) return;
    total = *std::exchange(untold_, std::nullopt);
    told_ms_ = now_ms;
    told = std::make_shared<const bool>(true);
    telling_ = told;
  }
  tell(total, std::move(told));
}

void InboxUpdates::tell(std::size_t total, std::shared_ptr<const void> told) {
  std::string frame;
  append_websocket_message(frame, "inbox_update", "", R"({"total":)" + std::to_string(total) + "}");
  live_.tell_inbox(own_bytes(std::move(frame)), std::move(told));
}

}  // namespace shepherd
