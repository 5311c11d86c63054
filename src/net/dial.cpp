#include "net/dial.h"

#include <netdb.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <cstring>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include "net/limits.h"

namespace shepherd::net {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

std::string origin(const Url& url) {
  return host_header(url);
}

std::string address_text(const tcp::endpoint& endpoint) {
  asio::ip::address address = endpoint.address();
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).to_string();
  }
  return address.to_string();
}

bool is_set(Cancelled cancelled) {
  return cancelled != nullptr && *cancelled;
}
// A pending name look-up cannot be woken.
Deadline soon() {
  return std::chrono::steady_clock::now() + kLiveReadSlice;
}

struct Resolved {
  int error = 0;
  std::vector<tcp::endpoint> endpoints;
};

Resolved look_up(const std::string& host, const std::string& port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | AI_ADDRCONFIG;
  addrinfo* found = nullptr;
  Resolved resolved;
  resolved.error = getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  if (resolved.error != 0) return resolved;
  for (addrinfo* at = found; at != nullptr; at = at->ai_next) {
    tcp::endpoint endpoint;
    if (at->ai_addrlen > endpoint.capacity()) continue;
    std::memcpy(endpoint.data(), at->ai_addr, at->ai_addrlen);
    endpoint.resize(at->ai_addrlen);
    resolved.endpoints.push_back(endpoint);
  }
  freeaddrinfo(found);
  return resolved;
}

// The system's resolver cannot be interrupted, so it runs in a thread that may outlive the call; a deadline that had to
// wait for DNS would not hold.
Result<std::vector<tcp::endpoint>> resolve(const Url& url, Deadline deadline, Cancelled cancelled) {
  error_code not_numeric;
  auto address = asio::ip::make_address(url.host, not_numeric);
  if (!not_numeric) {
    return std::vector{tcp::endpoint(address, static_cast<std::uint16_t>(std::stoul(url.port)))};
  }
  auto promise = std::make_shared<std::promise<Resolved>>();
  auto future = promise->get_future();
  std::thread([promise, host = url.host, port = url.port] { promise->set_value(look_up(host, port)); }).detach();
  while (future.wait_until(std::min(deadline, soon())) != std::future_status::ready) {
    if (is_set(cancelled) || std::chrono::steady_clock::now() >= deadline) return timed_out(url);
  }
  Resolved resolved = future.get();
  if (resolved.error != 0 || resolved.endpoints.empty()) {
    return unreachable(url, resolved.error != 0 ? gai_strerror(resolved.error) : "the name has no address");
  }
  return std::move(resolved.endpoints);
}

}  // namespace

std::string host_header(const Url& url) {
  std::string host = url.host.find(':') == std::string::npos ? url.host : "[" + url.host + "]";
  bool usual = url.port == (url.secure ? "443" : "80");
  return usual ? host : host + ":" + url.port;
}

std::unexpected<Error> timed_out(const Url& url) {
  return fail(ErrorCode::unavailable, "timed_out", origin(url) + " did not answer in time");
}

std::unexpected<Error> unreachable(const Url& url, const std::string& why) {
  return fail(ErrorCode::unavailable, "unreachable", "cannot reach " + origin(url) + ": " + why);
}

bool run_until(asio::io_context& io, const bool& done, Deadline deadline, Cancelled cancelled) {
  io.restart();
  while (!done) {
    if (is_set(cancelled)) return false;
    if (io.run_one_until(deadline) == 0) return done;
  }
  return true;
}

Result<TcpSocket> dial(asio::io_context& io, const Url& url, Deadline deadline,
                       const std::function<bool(std::string_view)>& allowed, Cancelled cancelled) {
  auto endpoints = resolve(url, deadline, cancelled);
  if (!endpoints) return fail(std::move(endpoints.error()));
  for (const tcp::endpoint& endpoint : *endpoints) {
    if (!allowed || allowed(address_text(endpoint))) continue;
    return fail(ErrorCode::permission_denied, "refused_address",
                origin(url) + " stands for an address that must not be called");
  }
  error_code last;
  for (const tcp::endpoint& endpoint : *endpoints) {
    TcpSocket socket(io);
    bool done = false;
    socket.async_connect(endpoint, [&](error_code error) {
      last = error;
      done = true;
    });
    if (!run_until(io, done, deadline, cancelled)) {
      error_code ignored;
      socket.close(ignored);
      while (!done) io.run_one();  // the completion refers to this frame
      return timed_out(url);
    }
    if (!last) {
      error_code ignored;
      socket.set_option(tcp::no_delay(true), ignored);
      return socket;
    }
  }
  return unreachable(url, last.message());
}

Result<asio::ssl::context> make_client_context(const ClientTls& tls) {
  asio::ssl::context context(asio::ssl::context::tls_client);
  SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
  error_code error;
  if (tls.ca_file.empty()) {
    context.set_default_verify_paths(error);
  } else {
    context.load_verify_file(tls.ca_file, error);
  }
  if (error) {
    return fail(ErrorCode::invalid_argument, "bad_certificate",
                "cannot use the CA certificates in '" + tls.ca_file + "': " + error.message());
  }
  return context;
}

Result<void> handshake(asio::io_context& io, TlsStream& stream, const Url& url, bool insecure, Deadline deadline,
                       Cancelled cancelled) {
  error_code not_numeric;
  asio::ip::make_address(url.host, not_numeric);
  if (not_numeric) SSL_set_tlsext_host_name(stream.native_handle(), url.host.c_str());
  error_code error;
  stream.set_verify_mode(insecure ? asio::ssl::verify_none : asio::ssl::verify_peer, error);
  if (!insecure) stream.set_verify_callback(asio::ssl::host_name_verification(url.host), error);
  bool done = false;
  stream.async_handshake(asio::ssl::stream_base::client, [&](error_code result) {
    error = result;
    done = true;
  });
  if (!run_until(io, done, deadline, cancelled)) {
    error_code ignored;
    stream.next_layer().close(ignored);
    while (!done) io.run_one();
    return timed_out(url);
  }
  if (!error) return {};
  long verified = SSL_get_verify_result(stream.native_handle());
  if (!insecure && verified != X509_V_OK) {
    return fail(ErrorCode::unavailable, "bad_certificate",
                "the certificate of " + origin(url) + " is not trusted: " + X509_verify_cert_error_string(verified));
  }
  return unreachable(url, error.message());
}

}  // namespace shepherd::net
