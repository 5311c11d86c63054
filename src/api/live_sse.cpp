#include "api/live_sse.h"

#include <utility>

#include "api/frames.h"
#include "net/limits.h"

namespace shepherd {

LiveSse::LiveSse(Core& core, FeedOptions options, StreamTrail trail, std::string start_id)
    : LiveStream(core, std::move(options), std::move(trail)), start_id_(std::move(start_id)) {}

net::Response LiveSse::head() {
  net::Response head;
  head.content_type = "text/event-stream";
  head.headers.emplace_back("Cache-Control", "no-cache, no-transform");
  head.headers.emplace_back("X-Accel-Buffering", "no");
  return head;
}

void LiveSse::on_start() {
  say(own_bytes(sse_start(start_id_)));
}

void LiveSse::on_second(std::int64_t steady_ms) {
  if (std::exchange(wrote_, false)) quiet_since_ms_ = steady_ms;
  if (steady_ms - quiet_since_ms_ >= kKeepAlive.count()) say({nullptr, kSseKeepAlive});
}

void LiveSse::on_written(std::size_t) {
  wrote_ = true;
}

}  // namespace shepherd
