// Follows one task, or all of them, over a WebSocket. It resumes from its cursor when the server restarts or the
// network fails, so the listener sees every event once and in order.
//
// Ends when the task is complete, when the listener or stop() ends it, or with an Error that a retry would not change:
// those of LiveLink (unknown task, bad token, …), or a server that repeatedly leaves the same hole
// (internal/broken_sequence).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "client/live_link.h"
#include "client/log_cursor.h"
#include "net/client.h"

namespace shepherd {

struct LiveOptions {
  std::string task;                    // empty for all tasks, from now or from `cursor`
  std::optional<std::uint64_t> after;  // one task: the last number received
  std::uint64_t tail = 0;              // one task, without `after`: start with the newest N
  std::string cursor;                  // all tasks: where an earlier follower stopped
  std::string types;                   // comma-separated; empty for all
};

enum class LiveState {
  connected,     // replaying stored events
  live,          // caught up; further events are new
  disconnected,  // retrying
};

struct LiveChange {
  LiveState state = LiveState::connected;
  std::string why;           // disconnected: the reason, for a person
  std::int64_t down_ms = 0;  // reconnected: how long the connection was down; 0 at the first connect
};

// Called on the thread that runs the client.
class LiveObserver {
 public:
  virtual ~LiveObserver() = default;
  virtual bool on_event(std::string_view task, std::uint64_t sequence, std::string_view event) = 0;  // false: stop
  virtual void on_gap(std::string_view task, std::uint64_t from, std::uint64_t to) = 0;
  virtual void on_state(const LiveChange& change) = 0;
  virtual void on_complete(std::string_view task, std::string_view data) = 0;  // data of task_complete
  // All tasks: a task's row has changed. Only the newest row counts, so changes while disconnected are not reported.
  virtual void on_row(std::string_view /*task*/, std::string_view /*row*/) {}
  virtual void on_deleted(std::string_view /*task*/) {}  // all tasks: a task is gone
};

// Threads: caller; stop() from any.
class LiveClient final : private LiveLinkUser {
 public:
  LiveClient(Locate locate, LiveOptions options, const Clock& clock, Random& random, net::ClientTls tls = {});

  // Blocks until the end. Returns true if the task is complete, false if stopped.
  Result<bool> run(LiveObserver& listener);
  void stop() { link_.stop(); }

 private:
  std::string link_target() override;
  void on_link_open(std::int64_t down_ms) override;
  void on_link_lost(const std::string& why) override;
  Result<LinkStep> on_link_message(std::string_view message) override;
  Result<LinkStep> take_event(std::string_view message);
  Result<LinkStep> judge(LogCursor::Step step);
  LogCursor& cursor_of(std::string_view task);
  void note_position(std::string_view message, std::string_view data);

  const LiveOptions options_;
  LiveLink link_;
  LiveObserver* listener_ = nullptr;                   // during run()
  LogCursor cursor_;                                   // one task
  std::unordered_map<std::string, LogCursor> others_;  // all tasks
  std::string position_;                               // all tasks: the newest opaque cursor
  int holes_ = 0;                                      // since the last accepted event
};

}  // namespace shepherd
