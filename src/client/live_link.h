// A WebSocket to the server that is opened again when the server restarts or the network fails, with a jittered and
// growing pause. What is asked for and what the messages mean is its user's matter.
//
// Ends when the user or stop() ends it, or with an Error that a retry would not change: a refused request, a close code
// of 4100-4199. A server that is unreachable at the first try is such an Error, too; once connected, the link retries
// forever.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/result.h"
#include "client/find_server.h"
#include "net/client.h"

namespace shepherd {

// Finds the server before every connection, because a restarted server may have another port.
using Locate = std::function<Result<Destination>()>;

enum class LinkStep { go_on, complete, stopped, reconnect };

// Called on the thread that runs the link.
class LiveLinkUser {
 public:
  virtual ~LiveLinkUser() = default;
  virtual std::string link_target() = 0;                  // path and query of the next connection
  virtual void on_link_open(std::int64_t down_ms) = 0;    // down_ms: how long it was down; 0 at the first time
  virtual void on_link_lost(const std::string& why) = 0;  // why: for a person
  virtual Result<LinkStep> on_link_message(std::string_view message) = 0;
  // Messages to send now. Called after every message, after nudge(), and every kLiveLook.
  virtual std::vector<std::string> link_messages() { return {}; }
};

// Threads: caller; stop() and nudge() from any.
class LiveLink {
 public:
  LiveLink(Locate locate, const Clock& clock, Random& random, net::ClientTls tls);

  // Blocks until the end. Returns true after LinkStep::complete, false if stopped.
  Result<bool> run(LiveLinkUser& user);
  void stop() EXCLUDES(mutex_);
  // The user has messages to send.
  void nudge() EXCLUDES(mutex_);
  // The reason for LinkStep::reconnect.
  void set_why(std::string why) { why_ = std::move(why); }

 private:
  Result<net::WebSocketClient> connect(const std::string& target);
  Result<LinkStep> follow(net::WebSocketClient& socket, LiveLinkUser& user) EXCLUDES(mutex_);
  Result<LinkStep> after_close(const net::WebSocketClient& socket, const Error& error);
  void set_reading(net::WebSocketClient* socket) EXCLUDES(mutex_);
  bool pause() EXCLUDES(mutex_);  // false if stopped meanwhile
  bool stopping() EXCLUDES(mutex_);

  const Locate locate_;
  const Clock& clock_;
  Random& random_;
  const net::ClientTls tls_;
  std::optional<Destination> destination_;
  std::string why_;   // of the newest disconnect
  int failures_ = 0;  // since the last message

  Mutex mutex_;
  CondVar wake_;
  bool stopping_ GUARDED_BY(mutex_) = false;
  net::WebSocketClient* reading_ GUARDED_BY(mutex_) = nullptr;  // so that stop() can wake it
};

}  // namespace shepherd
