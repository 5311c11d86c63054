// All live streams of the process, so that revoking a token can end its streams at once. It is an
// intrusive list, which costs a stream two pointers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/metrics.h"
#include "base/mutex.h"

namespace shepherd {

class LiveStream;

// A task's changed row as a WebSocket message.
struct TaskUpdate {
  std::string task;
  ByteSpan frame;
};

// Threads: any.
class LiveRegistry {
 public:
  explicit LiveRegistry(MetricRegistry& metrics);

  void add(LiveStream& stream) EXCLUDES(mutex_);
  void remove(LiveStream& stream) EXCLUDES(mutex_);
  std::size_t size() const EXCLUDES(mutex_);

  // Ends the streams of a token with a close code, each on its own io thread.
  void cut_token(std::string_view token_id, std::uint16_t code, std::string reason) EXCLUDES(mutex_);
  // Sends updates to the streams that want them, one post for each. The posts hold `updates` until they have run.
  void tell(std::shared_ptr<const std::vector<TaskUpdate>> updates) EXCLUDES(mutex_);

  // Sends an inbox message to the streams over many logs whose caller may see them all. The posts hold `told` until
  // they have run.
  void tell_inbox(ByteSpan frame, std::shared_ptr<const void> told) EXCLUDES(mutex_);

 private:
  // Posts `act` to every stream that `which` selects. `which` runs under the lock and reads only immutable members.
  template <class Which, class Act>
  void post_to(const Which& which, const Act& act) EXCLUDES(mutex_);

  Gauge& streams_;
  mutable Mutex mutex_;
  LiveStream* newest_ GUARDED_BY(mutex_) = nullptr;
  std::size_t size_ GUARDED_BY(mutex_) = 0;
};

}  // namespace shepherd
