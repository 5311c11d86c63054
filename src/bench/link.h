// One non-blocking TCP connection, with or without TLS.
#pragma once

#include <openssl/ssl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace shepherd::bench {

struct Address {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
  bool tls = false;

  std::string authority() const;
};

// Parses "http://127.0.0.1:8080", "https://…"; IPv4 addresses only. invalid_argument/bad_url.
Result<Address> parse_url(std::string_view url);

// Owns a descriptor and, with TLS, its session. Does not check the certificate, because the tool started the server
// itself.
// Threads: caller.
class Link {
 public:
  // Starts connecting. Until it is connected, send() and receive() return 0. unavailable/connect_failed.
  static Result<Link> open(const Address& address);

  Link(Link&& other) noexcept;
  Link& operator=(Link&& other) noexcept;
  ~Link();

  int fd() const { return fd_; }
  // Number of bytes moved; 0: wait for the socket and try again; -1: the peer closed. TLS receives as many records as
  // fit.
  long send(const char* data, std::size_t size);
  long receive(char* into, std::size_t size);
  // After a result of 0: true to wait until the socket is writable, false until it is readable.
  bool wants_write() const { return wants_write_; }

 private:
  struct SslFree {
    void operator()(SSL* ssl) const { SSL_free(ssl); }
  };

  explicit Link(int fd) : fd_(fd) {}
  long after_ssl(int result);

  int fd_ = -1;
  std::unique_ptr<SSL, SslFree> ssl_;
  bool wants_write_ = true;
};

}  // namespace shepherd::bench
