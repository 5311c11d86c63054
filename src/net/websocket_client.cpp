#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <boost/json.hpp>
#include <variant>

#include "base/limits.h"
#include "net/client.h"
#include "net/dial.h"
#include "net/limits.h"

namespace shepherd::net {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = beast::websocket;
using boost::system::error_code;

namespace {

using PlainSocket = websocket::stream<TcpSocket>;
using TlsSocket = websocket::stream<TlsStream>;

ErrorCode code_of(unsigned status) {
  switch (status) {
    case 400:
      return ErrorCode::invalid_argument;
    case 401:
      return ErrorCode::unauthenticated;
    case 403:
      return ErrorCode::permission_denied;
    case 404:
      return ErrorCode::not_found;
    case 409:
      return ErrorCode::conflict;
    case 410:
      return ErrorCode::gone;
    case 413:
      return ErrorCode::too_large;
    case 415:
      return ErrorCode::unsupported_media_type;
    case 429:
      return ErrorCode::rate_limited;
    case 507:
      return ErrorCode::storage_full;
    default:
      return status >= 502 && status <= 504 ? ErrorCode::unavailable : ErrorCode::internal;
  }
}

std::unexpected<Error> refused(const Url& url, const websocket::response_type& response) {
  unsigned status = response.result_int();
  std::string reason = "handshake_refused";
  std::string message = host_header(url) + " refused the WebSocket with status " + std::to_string(status);
  error_code not_json;
  auto body = boost::json::parse(response.body(), not_json);
  if (!not_json && body.is_object()) {
    auto text = [&](const char* name, std::string& into) {
      const auto* value = body.as_object().if_contains(name);
      if (value == nullptr || !value->is_string()) return false;
      into = std::string(value->as_string());
      return true;
    };
    text("code", reason);
    if (!text("detail", message) && !text("error", message)) text("title", message);
  }
  return fail(Error{code_of(status), std::move(reason), std::move(message), {}}.with("status", std::int64_t{status}));
}

}  // namespace

struct WebSocketClient::Impl {
  explicit Impl(Url address) : url(std::move(address)) {}
  ~Impl() {
    if (!reading && !writing) return;
    drop();
    while (reading || writing) io.run_one();  // completions refer to this object
  }

  Url url;
  asio::io_context io{1};
  std::optional<asio::ssl::context> context;
  std::variant<std::monostate, PlainSocket, TlsSocket> stream;
  beast::flat_buffer buffer;
  bool reading = false;  // a read is pending, also between two calls of read()
  bool writing = false;
  bool arrived = false;
  error_code read_error;
  error_code write_error;
  std::optional<Closed> closed;

  template <class Use>
  void with(Use use) {
    std::visit(
        [&](auto& open) {
          if constexpr (!std::is_same_v<std::decay_t<decltype(open)>, std::monostate>) use(open);
        },
        stream);
  }

  void drop() {
    with([](auto& open) {
      error_code ignored;
      beast::get_lowest_layer(open).close(ignored);
    });
  }

  Result<void> open(const HeaderList& headers, const ClientTls& tls, Deadline deadline) {
    auto dialed = dial(io, url, deadline);
    if (!dialed) return fail(std::move(dialed.error()));
    if (url.secure) {
      auto made = make_client_context(tls);
      if (!made) return fail(std::move(made.error()));
      context.emplace(std::move(*made));
      auto& secure = stream.emplace<TlsSocket>(std::move(*dialed), *context);
      if (auto shaken = handshake(io, secure.next_layer(), url, tls.insecure, deadline); !shaken) return shaken;
    } else {
      stream.emplace<PlainSocket>(std::move(*dialed));
    }
    return upgrade(headers, deadline);
  }

  Result<void> upgrade(const HeaderList& headers, Deadline deadline) {
    websocket::response_type response;
    bool done = false;
    error_code result;
    with([&](auto& open) {
      open.set_option(websocket::stream_base::decorator([&headers](websocket::request_type& request) {
        for (const auto& [name, value] : headers) request.set(name, value);
      }));
      open.read_message_max(kMaxBodyBytes);
      open.async_handshake(response, host_header(url), url.target, [&](error_code error) {
        result = error;
        done = true;
      });
    });
    if (!run_until(io, done, deadline)) {
      drop();
      while (!done) io.run_one();
      return timed_out(url);
    }
    // The decorator refers to the caller's headers.
    with([](auto& open) { open.set_option(websocket::stream_base::decorator([](websocket::request_type&) {})); });
    if (result == websocket::error::upgrade_declined) return refused(url, response);
    if (result) return unreachable(url, result.message());
    return {};
  }

  std::unexpected<Error> ended() {
    return fail(ErrorCode::unavailable, "closed",
                "the WebSocket to " + host_header(url) + " is closed (" + std::to_string(closed->code) + ")");
  }

  void note_end() {
    closed.emplace();
    with([&](auto& open) {
      if (read_error != websocket::error::closed) return;
      closed->code = open.reason().code;
      closed->reason.assign(open.reason().reason.data(), open.reason().reason.size());
    });
    drop();
  }

  void start_read() {
    if (reading) return;
    reading = true;
    with([&](auto& open) {
      open.async_read(buffer, [this](error_code error, std::size_t) {
        reading = false;
        arrived = true;
        read_error = error;
      });
    });
  }
};

WebSocketClient::WebSocketClient(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
WebSocketClient::~WebSocketClient() = default;
WebSocketClient::WebSocketClient(WebSocketClient&&) noexcept = default;
WebSocketClient& WebSocketClient::operator=(WebSocketClient&&) noexcept = default;

Result<WebSocketClient> WebSocketClient::connect(const Url& url, const HeaderList& headers,
                                                 std::chrono::milliseconds timeout, ClientTls tls) {
  auto impl = std::make_unique<Impl>(url);
  if (auto opened = impl->open(headers, tls, std::chrono::steady_clock::now() + timeout); !opened) {
    return fail(std::move(opened.error()));
  }
  return WebSocketClient(std::move(impl));
}

Result<std::optional<std::string>> WebSocketClient::read(std::chrono::milliseconds timeout) {
  if (impl_->closed) return impl_->ended();
  if (!impl_->arrived) {
    impl_->start_read();
    if (!run_until(impl_->io, impl_->arrived, std::chrono::steady_clock::now() + timeout)) return std::nullopt;
  }
  impl_->arrived = false;
  if (impl_->read_error) {
    impl_->note_end();
    return impl_->ended();
  }
  std::string text = beast::buffers_to_string(impl_->buffer.data());
  impl_->buffer.consume(impl_->buffer.size());
  return std::optional(std::move(text));
}

Result<void> WebSocketClient::send(std::string_view text) {
  if (impl_->closed) return impl_->ended();
  bool done = false;
  impl_->writing = true;
  impl_->with([&](auto& open) {
    open.text(true);
    open.async_write(asio::buffer(text.data(), text.size()), [&](error_code error, std::size_t) {
      impl_->writing = false;
      impl_->write_error = error;
      done = true;
    });
  });
  if (!run_until(impl_->io, done, std::chrono::steady_clock::now() + kWriteDeadline)) {
    impl_->drop();
    while (!done) impl_->io.run_one();
  }
  if (!impl_->write_error) return {};
  impl_->note_end();
  return impl_->ended();
}

const std::optional<WebSocketClient::Closed>& WebSocketClient::closed() const {
  return impl_->closed;
}

void WebSocketClient::close() {
  if (impl_->closed) return;
  bool done = false;
  impl_->with([&](auto& open) { open.async_close(websocket::close_code::normal, [&](error_code) { done = true; }); });
  if (!run_until(impl_->io, done, std::chrono::steady_clock::now() + kLingerDeadline)) {
    impl_->drop();
    while (!done) impl_->io.run_one();
  }
  impl_->closed = Closed{1000, {}};
}

}  // namespace shepherd::net
