// A WebSocket that follows logs one by one, each from its own number (`GET /api/v1/events?each=1`):
//   {"type":"subscribe","logs":{"a":12,"b":0}}    follows a after its event 12, and b from its beginning
//   {"type":"unsubscribe","tasks":["a"]}          leaves a
// A log's messages follow the answer `subscribed`. Each log has its own `caught_up`, `gap` and `position`; after its
// `task_complete` or `task_deleted`, or an `error` with its taskID, it is no longer followed. The stream has no rows of
// tasks and does not end with a task.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "api/live_websocket.h"

namespace shepherd {

// While the connection has room, each log writes what it has; after a pause they take turns.
// Threads: strand (the connection's io thread).
class LiveLogs final : public LiveWebSocket {
 public:
  LiveLogs(Core& core, TypeFilter types, bool deltas, StreamTrail trail);
  ~LiveLogs() override;

 private:
  // One log and its feed. It is destroyed when its feed is not the caller. Threads: strand.
  class Log final : public FeedConsumer {
   public:
    Log(LiveLogs& stream, std::string task, std::uint64_t after);

    bool waits() const { return waiting_ || left_; }
    void ask();
    void pump();
    void tick(std::int64_t steady_ms) { feed_->tick(steady_ms); }
    // From now on it does not use its stream.
    void leave() { left_ = true; }

   private:
    void on_frames(FrameBatch&& batch) override;
    void on_feed_error(const Error& error) override;

    LiveLogs& stream_;
    const std::string task_;
    std::unique_ptr<Feed> feed_;
    bool waiting_ = false;  // for the feed
    bool pumping_ = false;
    bool left_ = false;
  };

  void on_room() override;
  void on_changed() override { on_room(); }
  void on_stop() override;
  void on_second(std::int64_t steady_ms) override;
  Result<void> change(const boost::json::object& message, bool subscribe) override;
  std::optional<std::set<std::string>> followed() const override;

  Result<void> add(const boost::json::object& logs);
  void leave(const std::string& task);
  // The feed of a log has failed, or has delivered everything.
  void end_log(const std::string& task, const Error* error);

  const TypeFilter types_;
  const bool deltas_;
  std::map<std::string, std::unique_ptr<Log>> logs_;
  std::string turn_;           // the log whose turn it was last
  bool taking_turns_ = false;  // on_room() is running
};

}  // namespace shepherd
