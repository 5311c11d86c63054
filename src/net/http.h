// HTTP as the rest of the program sees it: requests, responses, and the two kinds of long-lived answers (an event
// stream, a WebSocket). No Beast type leaves src/net.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/executor.h"

namespace shepherd::net {

// A parsed request. Header names are looked up in lower case.
// Threads: value.
struct Request {
  std::string method;                                        // "GET", as sent
  std::string target;                                        // "/path?query", as sent, origin form only
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case, in order
  std::string body;
  std::string peer;           // "127.0.0.1:50412"
  bool secure = false;        // came over TLS
  bool is_websocket = false;  // a valid WebSocket upgrade request
  // A slot that lives with the connection, for what the handler learned about the peer (its credentials). Valid while
  // the request's Responder is unanswered.
  std::shared_ptr<void>* connection_slot = nullptr;

  std::string_view path() const { return std::string_view(target).substr(0, target.find('?')); }
  std::string_view query() const;                              // after '?', may be empty
  std::string_view header(std::string_view lower_name) const;  // first value; empty when absent
};

// Percent-decoding for path segments and query values ('+' is a space in queries). nullopt: malformed or a NUL.
std::optional<std::string> percent_decode(std::string_view text, bool plus_is_space);
// The decoded value of a query parameter (first one); nullopt when absent or malformed.
std::optional<std::string> query_value(std::string_view query, std::string_view name);

struct Response {
  int status = 200;
  std::string content_type;  // empty: no body expected (204, 304)
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  bool close = false;  // close the connection after it
};

// A long-lived answer's connection, seen from its handler. Everything here runs on the connection's io thread.
// Threads: strand (the io thread that executor() names).
class StreamConnection {
 public:
  virtual ~StreamConnection() = default;
  // Sends the spans in order, coalesced. True: all of it is in the kernel. False: the rest is kept (with its owners)
  // and on_drained() follows once it has been sent; until then the handler should not write more.
  virtual bool write(std::span<const ByteSpan> spans) = 0;
  // Sends what is kept, then closes: WebSocket with this close code and reason, an event stream by its end.
  virtual void finish(std::uint16_t code, std::string_view reason) = 0;
  virtual Executor& executor() = 0;
};

enum class CloseCause { peer, finished, write_deadline, no_pong, protocol, shutdown, error };

// What the program does with a long-lived answer. Called on the connection's io thread only.
class StreamHandler {
 public:
  virtual ~StreamHandler() = default;
  virtual void on_open(StreamConnection& connection) = 0;  // connection stays valid until on_close
  virtual void on_drained() = 0;
  // About every second while open. Event streams send their own keep-alive; WebSocket pings are the connection's.
  virtual void on_tick(std::int64_t steady_ms) = 0;
  virtual void on_message(std::string_view text) = 0;  // WebSocket text message, whole, valid UTF-8
  // The server is going down: say what is to be said and finish(1001, …).
  virtual void on_shutdown() = 0;
  virtual void on_close(CloseCause cause) = 0;  // last call; the connection is gone
};

// Answers one request, exactly once. Dropping it unanswered sends a 500, so that no client waits forever.
// Threads: any; move-only.
class Responder {
 public:
  // The connection that takes the answer (responder_target.h). An interface, so that this header does not need sockets.
  class Target;
  explicit Responder(std::shared_ptr<Target> target);
  Responder(Responder&&) noexcept = default;
  Responder& operator=(Responder&& other) noexcept;  // what it held is answered like a dropped one
  ~Responder();

  void send(Response response);
  // A response whose body goes on until finish(): head has status, content type and headers; no Content-Length is sent.
  void stream(Response head, std::shared_ptr<StreamHandler> handler);
  // Completes a WebSocket upgrade (request.is_websocket). The handler then writes framed bytes (websocket_frame.h).
  void upgrade(std::string subprotocol, std::vector<std::pair<std::string, std::string>> headers,
               std::shared_ptr<StreamHandler> handler);

  Executor& executor() const;  // the connection's io thread
  // Answers whether the peer has gone since (it closed its side, or the connection broke): for requests that wait.
  // May be kept and called after the request was answered, from any thread.
  std::function<bool()> peer_watch() const;

 private:
  std::shared_ptr<Target> target_;
};

// What to do with a request whose headers are in and whose body is not.
struct Admission {
  std::size_t max_body_bytes = 0;
  std::optional<Response> refuse;  // sent instead; the body is not read and the connection closes
  std::string caller = {};         // whose share the body's bytes are counted for; empty: the peer's address
};

// Threads: any (called from all io threads).
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  virtual Admission admit(const Request& head) = 0;
  virtual void handle(Request&& request, Responder responder) = 0;
  // An answer for input that is not HTTP or breaks a bound (400, 408, 413, 414, 417, 426, 429, 431, 501, 503), and for
  // a request that was not answered (500), in the API's error form.
  virtual Response protocol_error(int status, std::string_view reason, std::string_view message) = 0;
};

}  // namespace shepherd::net
