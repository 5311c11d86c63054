// A socket of the calling side, registered with its loop once for its whole life and handed from user to user: the
// dialing, a call, the pool of idle connections, the next call.
#pragma once

#include <cstdint>
#include <memory>

#include "net/event_loop.h"
#include "net/resolver.h"
#include "net/socket.h"

namespace shepherd::net {

// Threads: strand.
class ClientSocket final : private EventLoop::Watcher {
 public:
  class User {
   public:
    // The socket became readable or writable (an edge, so it must continue until `again`). It may release the socket.
    virtual void on_ready(std::uint32_t epoll_events) = 0;

   protected:
    ~User() = default;
  };
  // Closes at once. The object itself stays until the loop has no pending events for it.
  struct Close {
    void operator()(ClientSocket* socket) const;
  };
  using Owner = std::unique_ptr<ClientSocket, Close>;

  // Starts to connect. nullptr, with errno, if the kernel refuses at once.
  static Owner connect(EventLoop& loop, const Address& address, User& user);
  ~ClientSocket() = default;

  void use(User* user) { user_ = user; }
  Socket& io() { return socket_; }
  // The kernel has seen the peer's end, so a short read does not mean that an edge will follow.
  bool peer_ended() const { return peer_ended_; }
  // 0 if connected, EINPROGRESS while it is not decided.
  int connect_error(std::uint32_t epoll_events) const;

 private:
  ClientSocket(EventLoop& loop, int fd, User& user) : loop_(loop), socket_(fd), user_(&user) {}
  void on_events(std::uint32_t epoll_events) override;

  EventLoop& loop_;
  Socket socket_;
  User* user_;
  bool peer_ended_ = false;
};

}  // namespace shepherd::net
