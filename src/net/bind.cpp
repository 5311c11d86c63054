#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

#include "net/acceptor.h"
#include "net/limits.h"

namespace shepherd::net {

namespace {

struct HostPort {
  std::string host;
  std::string port;
};

std::unexpected<Error> bad_address(const std::string& address, const std::string& why) {
  return fail(
      ErrorCode::invalid_argument, "bad_address",
      "cannot listen on '" + address + "': " + why + "; give HOST:PORT, for example 127.0.0.1:8080 or [::1]:8080");
}

Result<HostPort> split_address(const std::string& address) {
  std::size_t colon = address.rfind(':');
  if (colon == std::string::npos) return bad_address(address, "it has no port");
  HostPort parts{address.substr(0, colon), address.substr(colon + 1)};
  unsigned port = 0;
  auto [end, error] = std::from_chars(parts.port.data(), parts.port.data() + parts.port.size(), port);
  if (error != std::errc() || end != parts.port.data() + parts.port.size() || port > 65'535) {
    return bad_address(address, "the port is not a number up to 65535");
  }
  if (parts.host.starts_with('[') && parts.host.ends_with(']')) {
    parts.host = parts.host.substr(1, parts.host.size() - 2);
  } else if (parts.host.find(':') != std::string::npos) {
    return bad_address(address, "an IPv6 address needs brackets");
  }
  if (parts.host.empty()) return bad_address(address, "it has no host");
  return parts;
}

std::unexpected<Error> bind_error(const std::string& address, int error) {
  std::string start = "cannot listen on " + address + ": ";
  switch (error) {
    case EADDRINUSE:
      return fail(ErrorCode::unavailable, "address_in_use",
                  start + "the port is taken, perhaps by another server; stop it or choose another port");
    case EACCES:
      return fail(ErrorCode::permission_denied, "address_forbidden",
                  start + "not permitted; ports below 1024 need privileges, choose a higher one");
    case EADDRNOTAVAIL:
      return fail(ErrorCode::invalid_argument, "bad_address",
                  start + "this machine does not have the address; use 127.0.0.1, or 0.0.0.0 for all interfaces");
    default:
      return fail(ErrorCode::unavailable, "cannot_listen", start + std::strerror(error));
  }
}

std::uint16_t bound_port(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(address).sin6_port
                                             : reinterpret_cast<sockaddr_in&>(address).sin_port);
}

}  // namespace

Result<BoundSocket> bind_and_listen(const std::string& address) {
  auto parts = split_address(address);
  if (!parts) return fail(parts.error());
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (int error = getaddrinfo(parts->host.c_str(), parts->port.c_str(), &hints, &found); error != 0) {
    return bad_address(address, gai_strerror(error));
  }
  std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, freeaddrinfo);

  int fd = ::socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return bind_error(address, errno);
  int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (found->ai_family == AF_INET6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  if (::bind(fd, found->ai_addr, found->ai_addrlen) != 0 || ::listen(fd, kListenBacklog) != 0) {
    int error = errno;
    ::close(fd);
    return bind_error(address, error);
  }
  return BoundSocket{fd, std::move(parts->host), bound_port(fd)};
}

}  // namespace shepherd::net
