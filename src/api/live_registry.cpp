#include "api/live_registry.h"

#include <utility>

#include "api/live_stream.h"
#include "base/assert.h"

namespace shepherd {

LiveRegistry::LiveRegistry(MetricRegistry& metrics)
    : streams_(metrics.gauge("shepherd_live_streams", "WebSocket and event streams that are open")) {}

void LiveRegistry::add(LiveStream& stream) {
  streams_.add(1);
  MutexLock lock(mutex_);
  stream.older_ = newest_;
  stream.newer_ = nullptr;
  if (newest_ != nullptr) newest_->newer_ = &stream;
  newest_ = &stream;
  ++size_;
}

void LiveRegistry::remove(LiveStream& stream) {
  streams_.add(-1);
  MutexLock lock(mutex_);
  SHEPHERD_ASSERT(stream.newer_ != nullptr || newest_ == &stream, "a stream is removed once, after it was added");
  if (stream.older_ != nullptr) stream.older_->newer_ = stream.newer_;
  (stream.newer_ != nullptr ? stream.newer_->older_ : newest_) = stream.older_;
  stream.older_ = stream.newer_ = nullptr;
  --size_;
}

std::size_t LiveRegistry::size() const {
  MutexLock lock(mutex_);
  return size_;
}

template <class Which, class Act>
void LiveRegistry::post_to(const Which& which, const Act& act) {
  std::vector<std::pair<std::weak_ptr<LiveStream>, Executor*>> chosen;
  {
    MutexLock lock(mutex_);
    for (LiveStream* stream = newest_; stream != nullptr; stream = stream->older_) {
      if (which(*stream)) chosen.emplace_back(stream->weak_from_this(), &stream->executor());
    }
  }
  for (auto& [chosen_stream, executor] : chosen) {
    executor->post([weak = std::move(chosen_stream), act] {
      if (auto stream = weak.lock()) act(*stream);
    });
  }
}

void LiveRegistry::cut_token(std::string_view token_id, std::uint16_t code, std::string reason) {
  post_to([&](const LiveStream& stream) { return stream.principal().token_id == token_id; },
          [code, reason = std::move(reason)](LiveStream& stream) { stream.end(code, reason); });
}

void LiveRegistry::tell(std::shared_ptr<const std::vector<TaskUpdate>> updates) {
  post_to([](const LiveStream& stream) { return stream.wants_task_updates(); },
          [updates = std::move(updates)](LiveStream& stream) { stream.on_task_updates(*updates); });
}

void LiveRegistry::tell_inbox(ByteSpan frame, std::shared_ptr<const void> told) {
  post_to(
      [](const LiveStream& stream) { return stream.wants_task_updates() && stream.principal().may(Right::view, ""); },
      [frame = std::move(frame), told = std::move(told)](LiveStream& stream) { stream.on_inbox_update(frame); });
}

}  // namespace shepherd
