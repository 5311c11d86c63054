#include "bench/poller.h"

#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "base/assert.h"
#include "bench/steady_time.h"

namespace shepherd::bench {
namespace {

epoll_event interest(std::uint64_t number, bool write) {
  epoll_event event{};
  event.events = EPOLLIN | (write ? static_cast<std::uint32_t>(EPOLLOUT) : 0U);
  event.data.u64 = number;
  return event;
}

}  // namespace

Poller::Poller() : fd_(epoll_create1(EPOLL_CLOEXEC)) {
  SHEPHERD_ASSERT(fd_ >= 0, "epoll is there");
}
Poller::~Poller() {
  close(fd_);
}

void Poller::add(int fd, std::uint64_t number, bool write) {
  epoll_event event = interest(number, write);
  int added = epoll_ctl(fd_, EPOLL_CTL_ADD, fd, &event);
  SHEPHERD_ASSERT(added == 0, "a new descriptor can be watched");
}

void Poller::change(int fd, std::uint64_t number, bool write) {
  epoll_event event = interest(number, write);
  epoll_ctl(fd_, EPOLL_CTL_MOD, fd, &event);
}

void Poller::remove(int fd) {
  epoll_ctl(fd_, EPOLL_CTL_DEL, fd, nullptr);
}

std::span<const epoll_event> Poller::wait(std::uint64_t timeout_ns) {
  timespec timeout{static_cast<std::time_t>(timeout_ns / kNsPerSecond), static_cast<long>(timeout_ns % kNsPerSecond)};
  int count = epoll_pwait2(fd_, ready_.data(), static_cast<int>(ready_.size()), &timeout, nullptr);
  return {ready_.data(), static_cast<std::size_t>(std::max(count, 0))};
}

}  // namespace shepherd::bench
