#include "net/tls.h"

#include <openssl/err.h>

#include <array>

namespace shepherd::net {

namespace {

int choose_http11(SSL*, const unsigned char** out, unsigned char* out_bytes, const unsigned char* in,
                  unsigned int in_bytes, void*) {
  static constexpr std::array<unsigned char, 9> kHttp11{8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
  unsigned char* chosen = nullptr;
  int found = SSL_select_next_proto(&chosen, out_bytes, kHttp11.data(), kHttp11.size(), in, in_bytes);
  *out = chosen;
  return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

std::unexpected<Error> bad_file(const std::string& what, const std::string& file, const std::string& advice) {
  return fail(ErrorCode::invalid_argument, "bad_certificate",
              "cannot use the TLS " + what + " '" + file + "' (" + take_ssl_error() + "): " + advice);
}

}  // namespace

std::string take_ssl_error() {
  std::array<char, 256> text{};
  unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  if (code == 0) return "unknown";
  ERR_error_string_n(code, text.data(), text.size());
  return text.data();
}

Result<SslContext> make_server_context(const TlsFiles& files) {
  ERR_clear_error();
  SslContext context(SSL_CTX_new(TLS_server_method()));
  if (!context) return fail(ErrorCode::internal, "tls", "OpenSSL gives no context: " + take_ssl_error());
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  // For TLS 1.2, only forward secrecy and authenticated encryption: no CBC suites. TLS 1.3 has no others.
  SSL_CTX_set_cipher_list(context.get(), "ECDHE+AESGCM:ECDHE+CHACHA20:DHE+AESGCM:DHE+CHACHA20");
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF | SSL_OP_NO_COMPRESSION |
                                         SSL_OP_CIPHER_SERVER_PREFERENCE);
  // Moving buffer: the rest of a write may be sent from another address. Release: an idle connection keeps no 32 KiB.
  SSL_CTX_set_mode(context.get(),
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_alpn_select_cb(context.get(), choose_http11, nullptr);
  if (SSL_CTX_use_certificate_chain_file(context.get(), files.certificate.c_str()) != 1) {
    return bad_file("certificate", files.certificate, "give a readable PEM file with the chain, own certificate first");
  }
  if (SSL_CTX_use_PrivateKey_file(context.get(), files.key.c_str(), SSL_FILETYPE_PEM) != 1) {
    return bad_file("key", files.key,
                    "give a readable PEM file with the certificate's private key, without a password");
  }
  if (SSL_CTX_check_private_key(context.get()) != 1) {
    return bad_file("key", files.key, "it does not belong to the certificate '" + files.certificate + "'");
  }
  return context;
}

}  // namespace shepherd::net
