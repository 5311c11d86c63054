// Server-side TLS: a context from a certificate and its key.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>

#include "base/result.h"
#include "net/server.h"

namespace shepherd::net {

struct SslContextFree {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
using SslContext = std::unique_ptr<SSL_CTX, SslContextFree>;

// TLS 1.2 or newer, ALPN http/1.1. Errors: invalid_argument/bad_certificate, with the file and OpenSSL's message.
// Threads: any.
Result<SslContext> make_server_context(const TlsFiles& files);

// The newest error of OpenSSL's queue as text; empties the queue.
std::string take_ssl_error();

}  // namespace shepherd::net
