// What every connection has, whatever it speaks: a socket, unsent bytes, a place in its shard.
#pragma once

#include <atomic>
#include <boost/intrusive/list.hpp>
#include <cstdint>
#include <memory>
#include <string_view>

#include "net/event_loop.h"
#include "net/http.h"
#include "net/send_queue.h"
#include "net/socket.h"

namespace shepherd::net {

class Shard;

using ConnectionHook = boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

// Owns itself while it is open; after release() it lives until events already on their way and all owners are done
// with it. Small on purpose: an idle WebSocket is little more than this.
// Threads: strand.
class Connection : public EventLoop::Watcher, public ConnectionHook, public std::enable_shared_from_this<Connection> {
 public:
  virtual ~Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  virtual void on_sweep(std::int64_t now_ms) = 0;  // about every second
  virtual void drain() = 0;                        // the server is going down: end soon
  virtual void cut() = 0;                          // the server is down: end now

 protected:
  Connection(Shard& shard, Socket socket, SendQueue outbox);

  bool is_open() const { return self_ != nullptr; }
  void enter();    // into the shard; owns itself from now on
  void leave();    // out of the shard, without closing: another connection takes the socket over
  void release();  // closes the socket and leaves
  void note_end(std::uint32_t epoll_events);
  EventLoop& loop() const { return loop_; }
  std::int64_t now_ms() const;
  // Sends behind what is kept, and notes progress for the write deadline.
  SendQueue::Status note(SendQueue::Outcome outcome);
  bool write_deadline_passed(std::int64_t now) const;
  // The last words have been sent: from now on only the peer's own end is waited for.
  enum class Drained { more, all, end };
  Drained discard_input();

  Shard& shard_;  // gone with its server, which a released connection may outlive
  Socket socket_;
  SendQueue outbox_;
  std::int64_t progress_ms_ = 0;  // when kept bytes last moved
  // The kernel has seen the peer's end: a short read no longer means "wait for an edge". Any thread may look.
  std::atomic<bool> peer_ended_ = false;

 private:
  EventLoop& loop_;
  std::shared_ptr<Connection> self_;
};

}  // namespace shepherd::net
