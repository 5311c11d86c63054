// A live event stream (text/event-stream).
#pragma once

#include <cstdint>
#include <string>

#include "api/live_stream.h"

namespace shepherd {

// Threads: strand (the connection's io thread).
class LiveSse final : public LiveStream {
 public:
  // `start_id` is the stream's start cursor, as its clients write it.
  LiveSse(Core& core, FeedOptions options, StreamTrail trail, std::string start_id);

  // Status, media type and the headers that keep proxies from buffering.
  static net::Response head();

 private:
  void on_start() override;
  void on_second(std::int64_t steady_ms) override;
  void on_written(std::size_t bytes) override;

  std::string start_id_;
  std::int64_t quiet_since_ms_ = 0;  // by the connection's clock
  bool wrote_ = true;                // since the last tick
};

}  // namespace shepherd
