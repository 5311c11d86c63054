// The calling side for threads that may wait: blocking HTTP and WebSocket clients with deadlines. The caller's thread
// drives an event loop while it waits, so both are the calls of http_call.h, one at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/call_options.h"
#include "net/limits.h"
#include "net/url.h"

namespace shepherd::net {

struct ClientResponse {
  int status = 0;
  HeaderList headers;  // names in lower case
  std::string body;
  std::string_view header(std::string_view lower_name) const;
};

struct ClientBounds {
  std::size_t max_response_bytes = kMaxClientResponseBytes;
  bool status_only = false;  // the body is not used: a larger one is cut off without an error
  AddressRule allowed = {};
};

// Whole requests to one origin over a keep-alive connection, with the rules and errors of HttpCaller (http_call.h);
// unavailable/cancelled after cancel(). An HTTP error status is a response, not an Error.
// Threads: caller; cancel() from any.
class HttpClient {
 public:
  explicit HttpClient(Url origin, ClientTls tls = {}, ClientBounds bounds = {});
  ~HttpClient();
  HttpClient(HttpClient&&) noexcept;
  HttpClient& operator=(HttpClient&&) noexcept;

  Result<ClientResponse> request(std::string_view method, std::string_view target, const HeaderList& headers,
                                 std::string_view body, std::chrono::milliseconds timeout);
  // Makes the active request and every later one fail soon.
  void cancel();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A WebSocket connection. connect() has the errors of HttpClient, or the server's refusal. After its end or a failure,
// read() and send() return unavailable/closed. Threads: caller; wake() from any.
class WebSocketClient {
 public:
  struct Closed {
    std::uint16_t code = 1006;
    std::string reason;
  };
  // A refused handshake is an Error with the field `status`; for JSON bodies (`code`, `detail`) reason and message are
  // the server's. A Sec-WebSocket-Protocol header requests subprotocols.
  static Result<WebSocketClient> connect(const Url& url, const HeaderList& headers, std::chrono::milliseconds timeout,
                                         ClientTls tls = {});
  ~WebSocketClient();
  WebSocketClient(WebSocketClient&&) noexcept;
  WebSocketClient& operator=(WebSocketClient&&) noexcept;

  // Returns the next text message, or nullopt after `timeout` without one. After the close: unavailable/closed, with
  // closed() set. Answers pings.
  Result<std::optional<std::string>> read(std::chrono::milliseconds timeout);
  // Ends the waiting of the active read(), or of the next one, as if its time had passed.
  void wake();
  Result<void> send(std::string_view text);
  const std::optional<Closed>& closed() const;
  void close();

 private:
  struct Impl;
  explicit WebSocketClient(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace shepherd::net
