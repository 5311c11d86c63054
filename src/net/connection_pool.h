// Idle connections of the calling side, by origin.
#pragma once

#include <list>
#include <string>

#include "net/client_socket.h"
#include "net/timers.h"

namespace shepherd::net {

// Keeps at most kIdlePerOrigin connections per key and kIdleConnections in all, the newest ones, each for kKeptIdle. A
// connection whose peer ends it, or sends bytes that were not asked for, is closed. Threads: strand.
class ConnectionPool {
 public:
  explicit ConnectionPool(Timers& timers) : expiry_(timers, [this] { expire(); }) {}

  void keep(const std::string& key, ClientSocket::Owner socket);
  // The newest one that is still open; nullptr if there is none.
  ClientSocket::Owner take(const std::string& key);
  void clear() { kept_.clear(); }

 private:
  struct Kept final : ClientSocket::User {
    void on_ready(std::uint32_t epoll_events) override;
    ConnectionPool* pool = nullptr;
    std::string key;
    ClientSocket::Owner socket;
    TimePoint until;
  };

  void drop_old();
  void expire();

  Timer expiry_;
  std::list<Kept> kept_;  // the oldest first
};

}  // namespace shepherd::net
