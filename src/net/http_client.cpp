#include <sys/socket.h>

#include <atomic>
#include <boost/asio/post.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <variant>

#include "net/client.h"
#include "net/dial.h"
#include "net/text.h"

namespace shepherd::net {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using boost::system::error_code;

namespace {

using WireRequest = http::request<http::span_body<const char>>;
using WireParser = http::response_parser<http::string_body>;

bool repeatable(std::string_view method) {
  return method == "GET" || method == "HEAD" || method == "PUT" || method == "DELETE";
}

ClientResponse to_response(http::response<http::string_body>&& wire) {
  ClientResponse response;
  response.status = static_cast<int>(wire.result_int());
  for (const auto& field : wire) {
    std::string name(field.name_string());
    for (char& c : name) c = to_lower(c);
    response.headers.emplace_back(std::move(name), std::string(field.value()));
  }
  response.body = std::move(wire.body());
  return response;
}

}  // namespace

std::string_view ClientResponse::header(std::string_view lower_name) const {
  for (const auto& [name, value] : headers) {
    if (name == lower_name) return value;
  }
  return {};
}

struct HttpClient::Impl {
  Impl(Url url, ClientTls client_tls, ClientBounds client_bounds)
      : origin(std::move(url)), tls(std::move(client_tls)), bounds(std::move(client_bounds)) {}
  ~Impl() { drop(); }

  Url origin;
  ClientTls tls;
  ClientBounds bounds;
  asio::io_context io{1};
  std::optional<asio::ssl::context> context;
  std::variant<std::monostate, TcpSocket, TlsStream> stream;
  beast::flat_buffer buffer;
  std::atomic<bool> cancelled = false;

  struct Failure {
    Error error;
    bool unanswered = false;  // the connection ended before the first byte of a response
  };

  TcpSocket* socket() {
    if (auto* plain = std::get_if<TcpSocket>(&stream)) return plain;
    if (auto* secure = std::get_if<TlsStream>(&stream)) return &secure->next_layer();
    return nullptr;
  }

  void drop() {
    if (TcpSocket* open = socket()) {
      error_code ignored;
      open->close(ignored);
    }
    stream = std::monostate{};
    buffer.clear();
  }

  // An idle connection with incoming data was closed by the peer.
  bool still_open() {
    char byte;
    ssize_t got = ::recv(socket()->native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  }

  Result<void> connect(Deadline deadline) {
    auto dialed = dial(io, origin, deadline, bounds.allowed, &cancelled);
    if (!dialed) return fail(std::move(dialed.error()));
    if (!origin.secure) {
      stream.emplace<TcpSocket>(std::move(*dialed));
      return {};
    }
    if (!context) {
      auto made = make_client_context(tls);
      if (!made) return fail(std::move(made.error()));
      context.emplace(std::move(*made));
    }
    auto& secure = stream.emplace<TlsStream>(std::move(*dialed), *context);
    return handshake(io, secure, origin, tls.insecure, deadline, &cancelled);
  }

  // Starts an operation and waits for it. Drops the connection at the deadline or after a cancellation.
  template <class Start>
  Result<error_code> wait(Start start, Deadline deadline) {
    bool done = false;
    error_code result;
    auto completion = [&](error_code error, std::size_t) {
      result = error;
      done = true;
    };
    std::visit(
        [&](auto& open) {
          if constexpr (!std::is_same_v<std::decay_t<decltype(open)>, std::monostate>) start(open, completion);
        },
        stream);
    if (run_until(io, done, deadline, &cancelled)) return result;
    error_code ignored;
    socket()->close(ignored);
    while (!done && io.run_one() > 0) {
    }
    return timed_out(origin);
  }

  std::expected<ClientResponse, Failure> exchange(const WireRequest& request, Deadline deadline) {
    auto written = wait([&](auto& open, auto& done) { http::async_write(open, request, done); }, deadline);
    if (!written) return std::unexpected(Failure{std::move(written.error())});
    // A server that refuses early closes while we write; its answer may still be readable.
    WireParser parser;
    parser.body_limit(bounds.max_response_bytes);
    parser.skip(request.method() == http::verb::head);
    auto read = wait([&](auto& open, auto& done) { http::async_read(open, buffer, parser, done); }, deadline);
    if (!read) return std::unexpected(Failure{std::move(read.error())});
    if (*read) {
      if (!parser.got_some()) {
        std::string why = *written ? written->message() : read->message();
        return std::unexpected(Failure{unreachable(origin, why).error(), true});
      }
      if (bounds.status_only && *read == http::error::body_limit && parser.get().result_int() != 0) {
        ClientResponse response;
        response.status = static_cast<int>(parser.get().result_int());
        drop();
        return response;
      }
      return std::unexpected(
          Failure{Error{ErrorCode::internal,
                        "bad_response",
                        host_header(origin) + " did not answer with a whole HTTP response: " + read->message(),
                        {}}});
    }
    if (*written || !parser.keep_alive()) {
      auto response = to_response(parser.release());
      drop();
      return response;
    }
    return to_response(parser.release());
  }
};

HttpClient::HttpClient(Url origin, ClientTls tls, ClientBounds bounds)
    : impl_(std::make_unique<Impl>(std::move(origin), std::move(tls), std::move(bounds))) {}
HttpClient::~HttpClient() = default;
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;

Result<ClientResponse> HttpClient::request(std::string_view method, std::string_view target, const HeaderList& headers,
                                           std::string_view body, std::chrono::milliseconds timeout) {
  Deadline deadline = std::chrono::steady_clock::now() + timeout;
  WireRequest wire;
  wire.version(11);
  wire.method_string(method);
  wire.target(target);
  wire.set(http::field::host, host_header(impl_->origin));
  for (const auto& [name, value] : headers) {
    if (beast::iequals(name, "host")) {
      wire.set(http::field::host, value);  // there can be only one, and the caller's wins
    } else {
      wire.insert(name, value);
    }
  }
  wire.body() = beast::span<const char>(body.data(), body.size());
  if (!body.empty() || !(method == "GET" || method == "HEAD")) wire.content_length(body.size());

  for (bool first = true;; first = false) {
    if (impl_->cancelled) return fail(ErrorCode::unavailable, "cancelled", "the request was given up");
    bool reused = impl_->socket() != nullptr && impl_->still_open();
    if (!reused) {
      impl_->drop();
      if (auto connected = impl_->connect(deadline); !connected) {
        impl_->drop();
        if (impl_->cancelled) continue;  // the loop then reports the cancellation
        return fail(std::move(connected.error()));
      }
    }
    auto outcome = impl_->exchange(wire, deadline);
    if (outcome) return std::move(*outcome);
    impl_->drop();
    if (impl_->cancelled) continue;  // the loop then reports the cancellation
    // The peer may have closed just as we wrote. Only repeatable requests are sent twice.
    if (reused && first && outcome.error().unanswered && repeatable(method)) continue;
    return fail(std::move(outcome.error().error));
  }
}

// The loop that waits on the connection is woken here and closes it there.
void HttpClient::cancel() {
  impl_->cancelled = true;
  asio::post(impl_->io, [] {});
}

}  // namespace shepherd::net
