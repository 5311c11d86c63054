#include "api/chat_streams.h"

#include <fmt/format.h>

#include <utility>

#include "api/chat_frames.h"
#include "api/status_map.h"
#include "json/write.h"

namespace shepherd {

net::Response chat_stream_head() {
  net::Response head;
  head.content_type = "text/event-stream";
  head.headers.emplace_back("Cache-Control", "no-cache");
  head.headers.emplace_back("X-Accel-Buffering", "no");
  return head;
}

// --- an observer ---

ChatUpdates::ChatUpdates(Core& core, FeedOptions options, StreamTrail trail, std::string first)
    : LiveStream(core, std::move(options), std::move(trail)), first_(std::move(first)) {}

void ChatUpdates::on_start() {
  say(own_bytes(std::exchange(first_, {})));
}

void ChatUpdates::on_second(std::int64_t) {
  say({nullptr, kChatKeepAlive});
}

// --- one turn ---

ChatTurnStream::ChatTurnStream(Core& core, StreamTrail trail, std::string task, DeltaPlace deltas)
    : LiveStream(core, {}, std::move(trail)), task_(std::move(task)), deltas_(std::move(deltas)) {}

void ChatTurnStream::on_start() {
  {
    MutexLock lock(mutex_);
    home_ = &executor();
  }
  executor().post([self = shared_from_this(), this] { look(); });
}

void ChatTurnStream::begun(std::uint64_t sequence) {
  MutexLock lock(mutex_);
  first_ = sequence;
  if (home_ != nullptr) home_->post([self = shared_from_this(), this] { look(); });
}

void ChatTurnStream::ended(std::uint64_t sequence, std::string error) {
  MutexLock lock(mutex_);
  last_ = sequence;
  error_ = std::move(error);
  if (home_ != nullptr) home_->post([self = shared_from_this(), this] { look(); });
}

void ChatTurnStream::on_written(std::size_t) {
  executor().post([self = shared_from_this(), this] { look(); });
}

// The turn may wait for others before it, and its model may be silent for minutes.
void ChatTurnStream::on_second(std::int64_t) {
  say({nullptr, kChatKeepAlive});
}

void ChatTurnStream::look() {
  std::uint64_t first = 0;
  std::optional<std::uint64_t> last;
  std::string error;
  {
    MutexLock lock(mutex_);
    first = first_;
    last = last_;
    error = error_;
  }
  if (LiveStream::ended()) return;
  if (first == 0 && last && *last > 0) first = *last;  // the turn ended before its prompt was written
  if (first > 0 && !following_) {
    following_ = true;
    FeedOptions options;
    options.task = task_;
    options.after = first - 1;
    options.deltas = true;
    options.deltas_from = std::move(deltas_);
    options.encoder = &chat_frames();
    open_feed(std::move(options));
  }
  if (!last) return;
  if (*last == 0) {  // nothing of it is in the log
    std::string frames = chat_frame("error", object_text([&](JsonObject& object) { object.text("error", error); }));
    frames += chat_frame("response_complete", R"({"response":""})");
    say(own_bytes(std::move(frames)));
  } else if (feed() == nullptr || feed()->number() < *last) {
    return;
  }
  say({nullptr, kChatDone});
  end(kCloseDone, "turn complete");
}

// --- a late answer ---

void LateJson::finish(std::string json) {
  MutexLock lock(mutex_);
  json_ = std::move(json);
  if (home_ != nullptr) home_->post([self = shared_from_this()] { self->write_rest(); });
}

void LateJson::on_open(net::StreamConnection& connection) {
  connection_ = &connection;
  {
    MutexLock lock(mutex_);
    home_ = &connection.executor();
  }
  on_tick(0);
  connection.executor().post([self = shared_from_this()] { self->write_rest(); });
}

void LateJson::on_tick(std::int64_t) {
  if (connection_ == nullptr) return;
  ByteSpan blank{nullptr, "1\r\n \r\n"};
  connection_->write(std::span(&blank, 1));
}

void LateJson::write_rest() {
  std::optional<std::string> json;
  {
    MutexLock lock(mutex_);
    json = std::exchange(json_, std::nullopt);
  }
  if (!json || connection_ == nullptr) return;
  ByteSpan rest = own_bytes(fmt::format("{:x}\r\n{}\r\n0\r\n\r\n", json->size(), *json));
  connection_->write(std::span(&rest, 1));
  connection_->finish(kCloseDone, "");
}

void LateJson::on_shutdown() {
  if (connection_ != nullptr) connection_->finish(kCloseShutdown, "");
}

void LateJson::on_close(net::CloseCause) {
  connection_ = nullptr;
}

}  // namespace shepherd
