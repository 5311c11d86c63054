// TLS on the calling side: trust, the host's name, and a socket that raises no signal.
// Threads: any.
#pragma once

#include <openssl/ssl.h>

#include <string>

#include "base/result.h"
#include "net/call_options.h"
#include "net/tls.h"

namespace shepherd::net {

// TLS 1.2 or newer, ALPN http/1.1. Errors: invalid_argument/bad_certificate if the CA file cannot be read.
Result<SslContext> make_client_context(const ClientTls& tls);

// The state of a connection that is about to shake hands: it sends the host's name and, unless `insecure`, checks the
// certificate against it. Does not own the descriptor. nullptr if OpenSSL has no memory.
SSL* make_client_session(SSL_CTX& context, int fd, const std::string& host, bool insecure);

}  // namespace shepherd::net
