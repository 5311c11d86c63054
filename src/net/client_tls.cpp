#include "net/client_tls.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "base/assert.h"

namespace shepherd::net {

namespace {

bool is_literal_address(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  return inet_pton(AF_INET, host.c_str(), bytes.data()) == 1 || inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1;
}

// OpenSSL's own writes without MSG_NOSIGNAL, and a program that only calls must not need to block SIGPIPE.
int write_quietly(BIO* bio, const char* bytes, int size) {
  int fd = -1;
  BIO_get_fd(bio, &fd);
  ssize_t put = ::send(fd, bytes, static_cast<std::size_t>(size), MSG_NOSIGNAL);
  BIO_clear_retry_flags(bio);
  if (put < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) BIO_set_retry_write(bio);
  return static_cast<int>(put);
}

// OpenSSL's socket with another way to write.
const BIO_METHOD* quiet_socket() {
  static const BIO_METHOD* method = [] {
    const BIO_METHOD* usual = BIO_s_socket();
    BIO_METHOD* made = BIO_meth_new(BIO_TYPE_SOCKET, "quiet socket");
    SHEPHERD_ASSERT(made != nullptr, "OpenSSL has memory for a method");
    BIO_meth_set_write(made, write_quietly);
    BIO_meth_set_read(made, BIO_meth_get_read(usual));
    BIO_meth_set_ctrl(made, BIO_meth_get_ctrl(usual));
    BIO_meth_set_create(made, BIO_meth_get_create(usual));
    BIO_meth_set_destroy(made, BIO_meth_get_destroy(usual));
    return made;
  }();
  return method;
}

}  // namespace

Result<SslContext> make_client_context(const ClientTls& tls) {
  ERR_clear_error();
  SslContext context(SSL_CTX_new(TLS_client_method()));
  if (!context) return fail(ErrorCode::internal, "tls", "OpenSSL gives no context: " + take_ssl_error());
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(context.get(),
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  static constexpr std::array<unsigned char, 9> kHttp11{8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
  SSL_CTX_set_alpn_protos(context.get(), kHttp11.data(), kHttp11.size());
  if (tls.insecure) return context;
  int loaded = tls.ca_file.empty() ? SSL_CTX_set_default_verify_paths(context.get())
                                   : SSL_CTX_load_verify_file(context.get(), tls.ca_file.c_str());
  if (loaded != 1) {
    return fail(ErrorCode::invalid_argument, "bad_certificate",
                "cannot use the CA certificates in '" + tls.ca_file + "': " + take_ssl_error());
  }
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  return context;
}

SSL* make_client_session(SSL_CTX& context, int fd, const std::string& host, bool insecure) {
  ERR_clear_error();
  SSL* session = SSL_new(&context);
  BIO* bio = session == nullptr ? nullptr : BIO_new(quiet_socket());
  if (bio == nullptr) {
    SSL_free(session);
    return nullptr;
  }
  BIO_set_fd(bio, fd, BIO_NOCLOSE);
  SSL_set_bio(session, bio, bio);  // takes it over
  SSL_set_connect_state(session);
  bool literal = is_literal_address(host);
  if (!literal) SSL_set_tlsext_host_name(session, host.c_str());
  if (!insecure) {
    X509_VERIFY_PARAM* rules = SSL_get0_param(session);
    X509_VERIFY_PARAM_set_hostflags(rules, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    int set = literal ? X509_VERIFY_PARAM_set1_ip_asc(rules, host.c_str()) : SSL_set1_host(session, host.c_str());
    SHEPHERD_ASSERT(set == 1, "a host's name can be checked");
  }
  return session;
}

}  // namespace shepherd::net
