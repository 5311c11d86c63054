// A connected, non-blocking descriptor with or without TLS, behind the same two calls.
#pragma once

#include <openssl/ssl.h>
#include <sys/uio.h>

#include <cstddef>
#include <span>
#include <utility>

namespace shepherd::net {

// Owns the descriptor and its TLS state; closes both. TLS handshakes happen inside read() and write().
// Threads: strand.
class Socket {
 public:
  enum class Status { ok, again, end, failed };
  struct Outcome {
    Status status = Status::ok;
    std::size_t bytes = 0;
    bool drained = false;  // after a read: the kernel had no more, so an edge will follow
  };

  Socket() = default;
  explicit Socket(int fd, SSL* tls = nullptr) : fd_(fd), tls_(tls) {}
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)), tls_(std::exchange(other.tls_, nullptr)) {}
  Socket& operator=(Socket&& other) noexcept;
  ~Socket() { close(); }

  int fd() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  bool secure() const { return tls_ != nullptr; }
  bool handshake_done() const { return tls_ == nullptr || SSL_is_init_finished(tls_) != 0; }

  // For the calling side: takes the session over, which from now on reads and writes.
  void start_tls(SSL* session) { tls_ = session; }
  // Continues the handshake; `ok` once it is complete.
  Outcome handshake();
  SSL* tls() const { return tls_; }

  Outcome read(std::span<char> into);
  // Sends as much as the kernel accepts in one call; `bytes` may be less than offered. Under TLS the pieces are joined
  // into records, and after `again` the same bytes must be offered first.
  Outcome write(std::span<const iovec> pieces);
  void shutdown_write();  // signals the end of our data to the peer
  void close();

 private:
  Outcome tls_outcome(int result);

  int fd_ = -1;
  SSL* tls_ = nullptr;
};

}  // namespace shepherd::net
