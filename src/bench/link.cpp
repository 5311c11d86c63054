#include "bench/link.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "base/assert.h"

namespace shepherd::bench {
namespace {

SSL_CTX* client_context() {
  static SSL_CTX* context = [] {
    SSL_CTX* made = SSL_CTX_new(TLS_client_method());
    SHEPHERD_ASSERT(made != nullptr, "OpenSSL has a client method");
    SSL_CTX_set_verify(made, SSL_VERIFY_NONE, nullptr);
    SSL_CTX_set_mode(made,
                     SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    return made;
  }();
  return context;
}

}  // namespace

std::string Address::authority() const {
  return fmt::format("{}:{}", host, port);
}

Result<Address> parse_url(std::string_view url) {
  auto bad = [&] { return fail(ErrorCode::invalid_argument, "bad_url", fmt::format("not an http address: {}", url)); };
  Address address;
  std::string_view rest = url;
  if (rest.starts_with("https://")) {
    address.tls = true;
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
  } else {
    return bad();
  }
  rest = rest.substr(0, rest.find('/'));
  std::size_t colon = rest.rfind(':');
  if (colon == std::string_view::npos) return bad();
  address.host = rest.substr(0, colon);
  if (address.host == "localhost") address.host = "127.0.0.1";
  std::string_view port = rest.substr(colon + 1);
  auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (error != std::errc() || end != port.data() + port.size()) return bad();
  return address;
}

Result<Link> Link::open(const Address& address) {
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(address.port);
  if (inet_pton(AF_INET, address.host.c_str(), &where.sin_addr) != 1) {
    return fail(ErrorCode::invalid_argument, "bad_url", fmt::format("not an IPv4 address: {}", address.host));
  }
  Link link(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (link.fd_ < 0) {
    return fail(ErrorCode::unavailable, "connect_failed", fmt::format("no socket: {}", std::strerror(errno)));
  }
  int yes = 1;
  setsockopt(link.fd_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  if (connect(link.fd_, reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0 && errno != EINPROGRESS) {
    return fail(ErrorCode::unavailable, "connect_failed",
                fmt::format("cannot connect to {}: {}", address.authority(), std::strerror(errno)));
  }
  if (address.tls) {
    link.ssl_.reset(SSL_new(client_context()));
    SHEPHERD_ASSERT(link.ssl_ != nullptr, "OpenSSL makes a session");
    SSL_set_fd(link.ssl_.get(), link.fd_);
    SSL_set_connect_state(link.ssl_.get());
  }
  return link;
}

Link::Link(Link&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), ssl_(std::move(other.ssl_)), wants_write_(other.wants_write_) {}

Link& Link::operator=(Link&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(ssl_, other.ssl_);
  std::swap(wants_write_, other.wants_write_);
  return *this;
}

Link::~Link() {
  ssl_.reset();
  if (fd_ >= 0) close(fd_);
}

long Link::send(const char* data, std::size_t size) {
  if (ssl_ != nullptr) {
    ERR_clear_error();
    return after_ssl(SSL_write(ssl_.get(), data, static_cast<int>(size)));
  }
  long sent = ::send(fd_, data, size, MSG_NOSIGNAL);
  if (sent >= 0) return sent;
  // ENOTCONN means that the connection is still being established.
  wants_write_ = errno == EAGAIN || errno == ENOTCONN;
  return wants_write_ || errno == EINTR ? 0 : -1;
}

long Link::receive(char* into, std::size_t size) {
  wants_write_ = false;
  if (ssl_ == nullptr) {
    long got = ::recv(fd_, into, size, 0);
    if (got > 0) return got;
    return got < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
  }
  std::size_t filled = 0;
  while (filled < size) {
    ERR_clear_error();
    long got = after_ssl(SSL_read(ssl_.get(), into + filled, static_cast<int>(size - filled)));
    if (got <= 0) return filled > 0 ? static_cast<long>(filled) : got;
    filled += static_cast<std::size_t>(got);
  }
  return static_cast<long>(filled);
}

long Link::after_ssl(int result) {
  if (result > 0) return result;
  int error = SSL_get_error(ssl_.get(), result);
  wants_write_ = error == SSL_ERROR_WANT_WRITE;
  return wants_write_ || error == SSL_ERROR_WANT_READ ? 0 : -1;
}

}  // namespace shepherd::bench
