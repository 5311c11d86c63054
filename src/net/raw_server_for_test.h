// A listener whose connections a test plays byte by byte. Every wait is for a fact, with a generous bound.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "net/url.h"

namespace shepherd::net {

inline constexpr int kRawPatienceMs = 10'000;

class RawPeer {
 public:
  explicit RawPeer(int fd) : fd_(fd) {}

  // The bytes up to and with `mark`; what was read, if the peer ends first.
  std::string read_until(std::string_view mark) {
    std::size_t at = 0;
    while ((at = buffer_.find(mark)) == std::string::npos && fill()) {
    }
    std::size_t size = at == std::string::npos ? buffer_.size() : at + mark.size();
    std::string out = buffer_.substr(0, size);
    buffer_.erase(0, size);
    return out;
  }
  std::string read_head() { return read_until("\r\n\r\n"); }
  bool at_end() {
    while (fill()) {
    }
    return ended_;
  }
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      ssize_t put = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (put <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(put));
    }
    return true;
  }
  // Sends until the kernel takes no more; returns how much it took.
  std::size_t send_until_full(std::size_t most) {
    std::string bytes(64 * 1024, 'x');
    std::size_t taken = 0;
    while (taken < most) {
      std::size_t size = std::min(bytes.size(), most - taken);
      ssize_t put = ::send(fd_.get(), bytes.data(), size, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (put <= 0) break;
      taken += static_cast<std::size_t>(put);
    }
    return taken;
  }
  void close() { fd_.reset(); }
  int fd() const { return fd_.get(); }

 private:
  bool fill() {
    if (ended_ || !fd_) return false;
    pollfd ready{.fd = fd_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, kRawPatienceMs) <= 0) return false;
    char bytes[16'384];
    ssize_t got = ::recv(fd_.get(), bytes, sizeof bytes, 0);
    if (got <= 0) {
      ended_ = true;
      return false;
    }
    buffer_.append(bytes, static_cast<std::size_t>(got));
    return true;
  }

  Descriptor fd_;
  bool ended_ = false;
  std::string buffer_;
};

class RawServer {
 public:
  explicit RawServer(int backlog = 64, const char* host = "127.0.0.1", std::uint16_t port = 0)
      : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), host_(host) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    inet_pton(AF_INET, host, &address.sin_addr);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener_.get(), backlog), 0);
    getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
  }

  std::uint16_t port() const { return port_; }
  Url url(const std::string& target = "/") const { return {false, host_, std::to_string(port_), target}; }
  // nullptr if no connection comes.
  std::unique_ptr<RawPeer> accept() {
    pollfd ready{.fd = listener_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, kRawPatienceMs) <= 0) return nullptr;
    return std::make_unique<RawPeer>(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  }
  bool nobody_connects() {
    pollfd ready{.fd = listener_.get(), .events = POLLIN, .revents = 0};
    return ::poll(&ready, 1, 0) == 0;
  }
  // Fills the queue of a listener with backlog 0, so that the kernel answers no further connection.
  void fill_queue() {
    for (int i = 0; i < 4; ++i) {
      Descriptor& fd = fillers_.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_port = htons(port_);
      inet_pton(AF_INET, host_.c_str(), &address.sin_addr);
      ::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address);
    }
  }

 private:
  Descriptor listener_;
  std::string host_;
  std::uint16_t port_ = 0;
  std::vector<Descriptor> fillers_;
};

}  // namespace shepherd::net
