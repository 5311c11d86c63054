// The limit of the machine: the least work a server must do to deliver posted events to WebSocket consumers. One
// thread, one epoll, no storage, no authentication, no parsing of JSON. It wraps each event like Shepherd, so that the
// same bytes are sent, and sends what has accumulated once per turn of its loop.
//
//   POST /{channel}   NDJSON; answered immediately
//   GET /{channel}    WebSocket upgrade; sends new events only
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bench/poller.h"

namespace shepherd::bench {

// Owns the listening socket and its connections.
// Threads: caller, except that any thread or signal handler may call stop().
class BareServer {
 public:
  // Listens on a free port of 127.0.0.1. unavailable/no_port.
  static Result<BareServer> listen();
  BareServer(BareServer&& other) noexcept;
  BareServer& operator=(BareServer&&) = delete;
  ~BareServer();

  std::uint16_t port() const { return port_; }
  void run();  // until stop()
  void stop();

 private:
  struct Channel {
    std::string log;  // frames that a consumer may still need
    std::uint64_t sequence = 0;
    std::vector<int> subscribers;  // descriptors
    bool changed = false;
  };
  struct Connection {
    std::string in;
    Channel* channel = nullptr;  // set for a subscriber
    std::size_t offset = 0;      // end of what was sent of the channel's log
    bool watching_write = false;
    bool open = false;
  };

  BareServer(int listener, int wake, std::uint16_t port) : listener_(listener), wake_(wake), port_(port) {}
  void accept_all(Poller& poller);
  void on_ready(Poller& poller, int fd);
  bool take_request(Poller& poller, int fd);  // false: not complete yet
  void append_events(Channel& channel, std::string_view name, std::string_view body);
  void send_log(Poller& poller, int fd);
  void watch(Poller& poller, int fd, bool write);
  void flush(Poller& poller);
  void cut(Channel& channel);
  void drop(Poller& poller, int fd);

  int listener_, wake_;
  std::uint16_t port_;
  std::vector<Connection> connections_;  // by descriptor
  std::map<std::string, Channel, std::less<>> channels_;
  std::vector<Channel*> changed_;
  std::vector<char> buffer_ = std::vector<char>(256 * 1024);
};

}  // namespace shepherd::bench
