// A small epoll wrapper: each descriptor has a number.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstdint>
#include <span>

namespace shepherd::bench {

// Owns the epoll descriptor. Level-triggered.
// Threads: caller.
class Poller {
 public:
  Poller();
  ~Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  void add(int fd, std::uint64_t number, bool write);
  void change(int fd, std::uint64_t number, bool write);
  void remove(int fd);

  // Waits until a descriptor is ready or `timeout_ns` has passed (0: only checks). The events are valid until the next
  // call.
  std::span<const epoll_event> wait(std::uint64_t timeout_ns);

 private:
  int fd_;
  std::array<epoll_event, 512> ready_{};
};

}  // namespace shepherd::bench
