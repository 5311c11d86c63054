#include "rpc/event_streams.h"

#include <map>
#include <memory>
#include <vector>

#include "rpc/event_stream.h"
#include "rpc/limits.h"

namespace shepherd {

EventStreams::EventStreams(Journal& journal, Callers& callers, const Clock& clock, MetricRegistry& metrics)
    : journal_(journal),
      callers_(callers),
      clock_(clock),
      open_(metrics.gauge("shepherd_grpc_streams", "Open StreamEvents calls")) {}

Result<void> EventStreams::add(EventStream& stream) {
  MutexLock lock(mutex_);
  if (ending_) return fail(ErrorCode::unavailable, "shutting_down", "the server is shutting down; call again");
  if (streams_.size() >= kMaxRpcStreams) {
    return fail(ErrorCode::rate_limited, "too_many_streams", "too many streams are open; close some, or try later");
  }
  streams_.insert(&stream);
  open_.add(1);
  return {};
}

void EventStreams::remove(EventStream& stream) {
  MutexLock lock(mutex_);
  if (streams_.erase(&stream) == 0) return;
  open_.add(-1);
  if (streams_.empty()) emptied_.notify_all();
}

void EventStreams::tick() {
  std::int64_t now_ms = clock_.steady_ms();
  std::map<Executor*, std::vector<std::shared_ptr<EventStream::Source>>> sources;
  {
    MutexLock lock(mutex_);  // keeps the streams alive; they never call back here under their own lock
    if (now_ms < next_tick_ms_) return;
    next_tick_ms_ = now_ms + kRpcTick.count();
    for (EventStream* stream : streams_) {
      if (Executor* executor = stream->tick(now_ms)) stream->append_sources(sources[executor]);
    }
  }
  for (auto& [executor, feeds] : sources) {
    executor->post([feeds = std::move(feeds), now_ms] {
      for (const auto& feed : feeds) feed->tick(now_ms);
    });
  }
}

void EventStreams::end_all() {
  MutexLock lock(mutex_);
  ending_ = true;
  for (EventStream* stream : streams_) {
    stream->end({grpc::StatusCode::UNAVAILABLE, "the server is shutting down; call again"});
  }
  std::int64_t deadline_ms = clock_.steady_ms() + kRpcDrain.count();
  while (!streams_.empty()) {
    std::int64_t left_ms = deadline_ms - clock_.steady_ms();
    if (left_ms > 0) {
      emptied_.wait_for(mutex_, std::chrono::milliseconds(left_ms));
      continue;
    }
    for (EventStream* stream : streams_) stream->cut();  // for callers that read nothing
    emptied_.wait_for(mutex_, kRpcDrain);
  }
}

}  // namespace shepherd
