#include "net/socket.h"

#include <openssl/err.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace shepherd::net {

namespace {

constexpr std::size_t kTlsRecordBytes = 16 * 1024;  // the protocol's own bound

Socket::Outcome failure() {
  if (errno == EAGAIN || errno == EWOULDBLOCK) return {Socket::Status::again};
  return {Socket::Status::failed};
}

// Joins pieces into one record, so that many small frames do not become many small records.
std::span<const char> join_record(std::span<const iovec> pieces) {
  static thread_local std::array<char, kTlsRecordBytes> record;
  std::size_t size = 0;
  for (const iovec& piece : pieces) {
    std::size_t take = std::min(piece.iov_len, record.size() - size);
    if (take > 0) std::memcpy(record.data() + size, piece.iov_base, take);
    size += take;
    if (size == record.size()) break;
  }
  return {record.data(), size};
}

}  // namespace

Socket& Socket::operator=(Socket&& other) noexcept {
  if (this != &other) {
    close();
    fd_ = std::exchange(other.fd_, -1);
    tls_ = std::exchange(other.tls_, nullptr);
  }
  return *this;
}

Socket::Outcome Socket::tls_outcome(int result) {
  switch (SSL_get_error(tls_, result)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
      return {Status::again};
    case SSL_ERROR_ZERO_RETURN:
      return {Status::end};
    default:
      return {Status::failed};
  }
}

Socket::Outcome Socket::handshake() {
  ERR_clear_error();
  int result = SSL_do_handshake(tls_);
  return result == 1 ? Outcome{} : tls_outcome(result);
}

Socket::Outcome Socket::read(std::span<char> into) {
  if (tls_ != nullptr) {
    ERR_clear_error();
    std::size_t got = 0;
    int result = SSL_read_ex(tls_, into.data(), into.size(), &got);
    if (result == 1) return {Status::ok, got, false};
    return tls_outcome(result);
  }
  ssize_t got;
  do {
    got = ::recv(fd_, into.data(), into.size(), 0);
  } while (got < 0 && errno == EINTR);
  if (got > 0) return {Status::ok, static_cast<std::size_t>(got), static_cast<std::size_t>(got) < into.size()};
  if (got == 0) return {Status::end};
  return failure();
}

Socket::Outcome Socket::write(std::span<const iovec> pieces) {
  if (tls_ != nullptr) {
    auto record = join_record(pieces);
    if (record.empty()) return {};
    ERR_clear_error();
    std::size_t put = 0;
    int result = SSL_write_ex(tls_, record.data(), record.size(), &put);
    if (result == 1) return {Status::ok, put};
    return tls_outcome(result);
  }
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(pieces.data());
  message.msg_iovlen = pieces.size();
  ssize_t put;
  do {
    put = pieces.size() == 1 ? ::send(fd_, pieces[0].iov_base, pieces[0].iov_len, MSG_NOSIGNAL)
                             : ::sendmsg(fd_, &message, MSG_NOSIGNAL);
  } while (put < 0 && errno == EINTR);
  if (put >= 0) return {Status::ok, static_cast<std::size_t>(put)};
  return failure();
}

void Socket::shutdown_write() {
  if (tls_ != nullptr && SSL_is_init_finished(tls_) != 0) {
    ERR_clear_error();
    SSL_shutdown(tls_);
  }
  if (fd_ >= 0) ::shutdown(fd_, SHUT_WR);
}

void Socket::close() {
  if (tls_ != nullptr) {
    // Sends close_notify; silent if the peer is gone or the handshake never ended.
    ERR_clear_error();
    if (SSL_is_init_finished(tls_) != 0 && (SSL_get_shutdown(tls_) & SSL_SENT_SHUTDOWN) == 0) SSL_shutdown(tls_);
    ERR_clear_error();
    SSL_free(tls_);
    tls_ = nullptr;
  }
  if (fd_ >= 0) {
    ::close(fd_);
    fd_ = -1;
  }
}

}  // namespace shepherd::net
