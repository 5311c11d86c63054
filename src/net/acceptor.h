// The listening socket: accepts connections and gives them to the shards in turn.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/event_loop.h"
#include "net/shard.h"

namespace shepherd::net {

// A bound, listening, non-blocking descriptor and its address.
struct BoundSocket {
  int fd = -1;
  std::string host;  // as given, without brackets
  std::uint16_t port = 0;
};

// "host:port" or "[v6]:port". Errors: invalid_argument/bad_address, unavailable/address_in_use,
// permission_denied/address_forbidden, each with the address and what to do.
Result<BoundSocket> bind_and_listen(const std::string& address);

// Owns the descriptor. Lives on the first shard's loop. Without free descriptors it stops accepting for a moment
// instead of spinning on a queue that it cannot empty.
// Threads: strand, except the constructor.
class Acceptor final : public EventLoop::Watcher, public EventLoop::Ticker {
 public:
  Acceptor(int fd, EventLoop& loop, ServerCore& core, std::vector<Shard*> shards);
  ~Acceptor();

  void start();
  void close();

  void on_events(std::uint32_t events) override;
  std::chrono::milliseconds tick() override;
  void on_loop_stop() override { close(); }

 private:
  void hand_over(int fd, std::string peer);
  void pause();
  void say_trouble(const char* why);

  int fd_;
  EventLoop& loop_;
  ServerCore& core_;
  std::vector<Shard*> shards_;
  std::size_t next_shard_ = 0;
  std::uint64_t pauses_ = 0;
  std::int64_t said_ms_ = 0;
  bool paused_ = false;
  bool closed_ = false;
};

}  // namespace shepherd::net
