// The calling side: blocking HTTP and WebSocket clients with deadlines, for command-line programs and callbacks.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "net/limits.h"

namespace shepherd::net {

struct Url {
  bool secure = false;  // https, wss
  std::string host;
  std::string port;
  std::string target;  // path and query, at least "/"
};
// http, https, ws, wss; no user name. Errors: invalid_argument/bad_url.
Result<Url> parse_url(std::string_view url);

using HeaderList = std::vector<std::pair<std::string, std::string>>;

struct ClientResponse {
  int status = 0;
  HeaderList headers;  // names in lower case
  std::string body;
  std::string_view header(std::string_view lower_name) const;
};

struct ClientTls {
  std::string ca_file;    // empty: the system's
  bool insecure = false;  // accept any certificate; only by explicit flag
};

struct ClientBounds {
  std::size_t max_response_bytes = kMaxClientResponseBytes;
  bool status_only = false;  // the body is not read: a larger one is cut off without an error
  // Asked about every address that the host's name stands for, before it is connected to: "10.0.0.1", "fe80::1". An
  // IPv4 address inside an IPv6 one is given as what it is. Empty: all are allowed.
  std::function<bool(std::string_view address)> allowed = {};
};

// One keep-alive connection to one origin; reconnects by itself when the peer closed an idle one.
// Errors: unavailable/unreachable (refused, DNS, reset), unavailable/timed_out, unavailable/bad_certificate,
// internal/bad_response, unavailable/cancelled, permission_denied/refused_address (ClientBounds). An HTTP error status
// is a response, not an Error. Redirects are not followed.
// Threads: caller; cancel() from any.
class HttpClient {
 public:
  explicit HttpClient(Url origin, ClientTls tls = {}, ClientBounds bounds = {});
  ~HttpClient();
  HttpClient(HttpClient&&) noexcept;
  HttpClient& operator=(HttpClient&&) noexcept;

  Result<ClientResponse> request(std::string_view method, std::string_view target, const HeaderList& headers,
                                 std::string_view body, std::chrono::milliseconds timeout);
  // The request that is under way, and every later one, fails soon.
  void cancel();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A WebSocket connection. Errors of connect(): those of HttpClient, or the server's refusal. Once it has ended or
// failed, read() and send() answer unavailable/closed. Threads: caller.
class WebSocketClient {
 public:
  struct Closed {
    std::uint16_t code = 1006;
    std::string reason;
  };
  // A refused handshake is an Error: its fields hold `status` and, for JSON bodies (`code`, `detail`), reason/message
  // are the server's. A Sec-WebSocket-Protocol among the headers asks for subprotocols.
  static Result<WebSocketClient> connect(const Url& url, const HeaderList& headers, std::chrono::milliseconds timeout,
                                         ClientTls tls = {});
  ~WebSocketClient();
  WebSocketClient(WebSocketClient&&) noexcept;
  WebSocketClient& operator=(WebSocketClient&&) noexcept;

  // The next text message; nullopt after `timeout` without one. After the close: unavailable/closed, with closed() set.
  // Pings are answered inside.
  Result<std::optional<std::string>> read(std::chrono::milliseconds timeout);
  Result<void> send(std::string_view text);
  const std::optional<Closed>& closed() const;
  void close();

 private:
  struct Impl;
  explicit WebSocketClient(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace shepherd::net
