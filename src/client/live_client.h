// Follows one task, or all of them, over a WebSocket. It resumes from its cursor when the server restarts or the
// network fails, so the listener sees every event once and in order.
//
// Ends when the task is complete, when the listener or stop() ends it, or with an Error that a retry would not change:
// unknown task, bad token, a close code of 4100-4199, or a server that repeatedly leaves the same hole
// (internal/broken_sequence). A server that is unreachable at the first try is such an Error, too; once connected, the
// client retries forever, with a jittered and growing pause.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/result.h"
#include "client/find_server.h"
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

// Finds the server before every connection, because a restarted server may have another port.
using Locate = std::function<Result<Destination>()>;

// Threads: caller; stop() from any.
class LiveClient {
 public:
  LiveClient(Locate locate, LiveOptions options, const Clock& clock, Random& random, net::ClientTls tls = {});

  // Blocks until the end. Returns true if the task is complete, false if stopped.
  Result<bool> run(LiveObserver& listener);
  void stop() EXCLUDES(mutex_);

 private:
  enum class Outcome { go_on, complete, stopped, reconnect };

  Result<net::WebSocketClient> connect();
  Result<Outcome> follow(net::WebSocketClient& socket, LiveObserver& listener) EXCLUDES(mutex_);
  void set_reading(net::WebSocketClient* socket) EXCLUDES(mutex_);
  Result<Outcome> take(std::string_view message, LiveObserver& listener);
  Result<Outcome> take_event(std::string_view message, LiveObserver& listener);
  Result<Outcome> judge(LogCursor::Step step);
  Result<Outcome> after_close(const net::WebSocketClient& socket, const Error& error);
  LogCursor& cursor_of(std::string_view task);
  void note_position(std::string_view message, std::string_view data);
  std::string target() const;
  bool pause() EXCLUDES(mutex_);  // false if stopped meanwhile
  bool stopping() EXCLUDES(mutex_);

  Locate locate_;
  LiveOptions options_;
  const Clock& clock_;
  Random& random_;
  net::ClientTls tls_;

  LogCursor cursor_;                                   // one task
  std::unordered_map<std::string, LogCursor> others_;  // all tasks
  std::string position_;                               // all tasks: the newest opaque cursor
  std::optional<Destination> destination_;
  std::string why_;   // of the newest disconnect
  int failures_ = 0;  // since the last message
  int holes_ = 0;     // since the last accepted event

  Mutex mutex_;
  CondVar wake_;
  bool stopping_ GUARDED_BY(mutex_) = false;
  net::WebSocketClient* reading_ GUARDED_BY(mutex_) = nullptr;  // so that stop() can wake it
};

}  // namespace shepherd
