#include "net/acceptor.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/log.h"
#include "net/limits.h"

namespace shepherd::net {

namespace {

std::string peer_name(const sockaddr_storage& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
    return "[" + std::string(text.data()) + "]:" + std::to_string(ntohs(v6.sin6_port));
  }
  const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
  inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
  return std::string(text.data()) + ":" + std::to_string(ntohs(v4.sin_port));
}

}  // namespace

Acceptor::Acceptor(int fd, EventLoop& loop, ServerCore& core, std::vector<Shard*> shards)
    : fd_(fd), loop_(loop), core_(core), shards_(std::move(shards)) {}

Acceptor::~Acceptor() {
  if (fd_ >= 0) ::close(fd_);
}

void Acceptor::start() {
  loop_.add_ticker(*this, kAcceptPause);
  if (!loop_.watch(fd_, *this, EventLoop::Trigger::level)) pause();
}

void Acceptor::close() {
  if (closed_) return;
  closed_ = true;
  loop_.unwatch(fd_);
  loop_.remove_ticker(*this);
  ::close(fd_);
  fd_ = -1;
  core_.part_gone();
}

void Acceptor::on_events(std::uint32_t /*events*/) {
  for (int i = 0; i < kAcceptsPerTurn && !closed_ && !paused_; ++i) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    int fd = accept4(fd_, reinterpret_cast<sockaddr*>(&address), &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      hand_over(fd, peer_name(address));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return;
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      say_trouble(std::strerror(errno));
      pause();
    }
    // Any other error means that this one connection was closed before it was accepted.
  }
}

void Acceptor::hand_over(int fd, std::string peer) {
  int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  core_.metrics.accepted.add();
  std::size_t open = core_.connections();
  if (open >= core_.options.max_connections + kRefusedConnections) {
    core_.metrics.refused.add();
    ::close(fd);
    return;
  }
  bool refuse = open >= core_.options.max_connections;
  core_.connection_added();
  Shard& shard = *shards_[next_shard_++ % shards_.size()];
  if (&shard.loop() == &loop_) {
    shard.open(fd, std::move(peer), refuse);
  } else {
    shard.loop().post(
        [&shard, fd, peer = std::move(peer), refuse]() mutable { shard.open(fd, std::move(peer), refuse); });
  }
}

// The failure repeats with every retry, so it is logged only once in a while.
void Acceptor::say_trouble(const char* why) {
  ++pauses_;
  std::int64_t now_ms = core_.clock.steady_ms();
  if (pauses_ > 1 && now_ms - said_ms_ < kAcceptTroubleLog.count()) return;
  said_ms_ = now_ms;
  log_warn("{}: cannot accept connections for a moment ({} times so far): {}; raise the limit of open files",
           core_.options.name, pauses_, why);
}

void Acceptor::pause() {
  paused_ = true;
  loop_.unwatch(fd_);
  loop_.remove_ticker(*this);
  loop_.add_ticker(*this, kAcceptPause);
}

std::chrono::milliseconds Acceptor::tick() {
  if (paused_) paused_ = !loop_.watch(fd_, *this, EventLoop::Trigger::level);
  return paused_ ? kAcceptPause : std::chrono::hours(1);  // pause() sets the next tick
}

}  // namespace shepherd::net
