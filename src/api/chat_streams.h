// The long-lived answers of chat sessions: an observer's stream, the stream of one turn, and a JSON answer that comes
// late.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "api/live_stream.h"
#include "base/mutex.h"
#include "net/http.h"

namespace shepherd {

// The head of a chat's event stream. Clients of this protocol expect exactly these headers.
net::Response chat_stream_head();

// GET /updates: every event from a place on. A byte comes at least every second or so, because common clients give up
// after a few silent ones. Threads: strand (the connection's io thread).
class ChatUpdates final : public LiveStream {
 public:
  // `first` is written before anything else.
  ChatUpdates(Core& core, FeedOptions options, StreamTrail trail, std::string first);

 private:
  void on_start() override;
  void on_second(std::int64_t steady_ms) override;

  std::string first_;
};

// POST /request with `stream`: the events of one turn, then a done marker.
// Threads: strand (the connection's io thread), except begun() and ended().
class ChatTurnStream final : public LiveStream {
 public:
  // `deltas`: a place before the turn's live text.
  ChatTurnStream(Core& core, StreamTrail trail, std::string task, DeltaPlace deltas);

  void begun(std::uint64_t sequence) EXCLUDES(mutex_);                     // of the prompt's event
  void ended(std::uint64_t sequence, std::string error) EXCLUDES(mutex_);  // of the turn's last event; 0: there is none

 private:
  void on_start() override;
  void on_written(std::size_t bytes) override;
  void on_second(std::int64_t steady_ms) override;
  void look() EXCLUDES(mutex_);

  const std::string task_;
  DeltaPlace deltas_;
  Mutex mutex_;
  std::uint64_t first_ GUARDED_BY(mutex_) = 0;
  std::optional<std::uint64_t> last_ GUARDED_BY(mutex_);
  std::string error_ GUARDED_BY(mutex_);
  Executor* home_ GUARDED_BY(mutex_) = nullptr;
  bool following_ = false;
};

// A JSON answer whose head is sent before the answer is known: a blank every second keeps the client waiting. It is
// sent in chunks, so a client notices an answer that breaks off. Threads: strand (the connection's io thread), except
// finish().
class LateJson final : public net::StreamHandler, public std::enable_shared_from_this<LateJson> {
 public:
  void finish(std::string json) EXCLUDES(mutex_);

  void on_open(net::StreamConnection& connection) override EXCLUDES(mutex_);
  void on_drained() override {}
  void on_tick(std::int64_t steady_ms) override;
  void on_message(std::string_view) override {}
  void on_shutdown() override;
  void on_close(net::CloseCause cause) override;

 private:
  void write_rest() EXCLUDES(mutex_);

  net::StreamConnection* connection_ = nullptr;
  Mutex mutex_;
  std::optional<std::string> json_ GUARDED_BY(mutex_);
  Executor* home_ GUARDED_BY(mutex_) = nullptr;
};

}  // namespace shepherd
