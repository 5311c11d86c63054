#include "net/client_socket.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>

namespace shepherd::net {

ClientSocket::Owner ClientSocket::connect(EventLoop& loop, const Address& address, User& user) {
  int fd = ::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return nullptr;
  std::unique_ptr<ClientSocket> made(new ClientSocket(loop, fd, user));
  int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (::connect(fd, address.get(), address.size) != 0 && errno != EINPROGRESS) return nullptr;
  // After connect(), because a socket that was never connected reports its end.
  if (!loop.watch(fd, *made)) return nullptr;
  return Owner(made.release());
}

void ClientSocket::Close::operator()(ClientSocket* socket) const {
  EventLoop& loop = socket->loop_;
  loop.unwatch(socket->socket_.fd());
  socket->user_ = nullptr;
  socket->socket_.close();
  loop.post([last = std::unique_ptr<ClientSocket>(socket)] {});
}

int ClientSocket::connect_error(std::uint32_t epoll_events) const {
  int error = 0;
  socklen_t size = sizeof error;
  if (getsockopt(socket_.fd(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) return errno;
  if (error == 0 && (epoll_events & EPOLLOUT) == 0) return EINPROGRESS;
  return error;
}

void ClientSocket::on_events(std::uint32_t epoll_events) {
  if ((epoll_events & (EPOLLRDHUP | EPOLLERR | EPOLLHUP)) != 0) peer_ended_ = true;
  if (user_ != nullptr) user_->on_ready(epoll_events);
}

}  // namespace shepherd::net
