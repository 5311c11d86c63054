// HTTP for the rest of the program: requests, responses, and the two kinds of long-lived answers (an event stream, a
// WebSocket).
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
  bool secure = false;        // received over TLS
  bool is_websocket = false;  // a valid WebSocket upgrade request
  // A slot that lives with the connection, for the handler's facts about the peer (its credentials). Valid while the
  // request's Responder is unanswered.
  std::shared_ptr<void>* connection_slot = nullptr;

  std::string_view path() const { return std::string_view(target).substr(0, target.find('?')); }
  std::string_view query() const;                              // after '?', may be empty
  std::string_view header(std::string_view lower_name) const;  // first value; empty if absent
};

// Percent-decodes path segments and query values ('+' is a space in queries). nullopt if malformed or with a NUL.
std::optional<std::string> percent_decode(std::string_view text, bool plus_is_space);
// The decoded value of a query parameter (the first one); nullopt if absent or malformed.
std::optional<std::string> query_value(std::string_view query, std::string_view name);

struct Response {
  int status = 200;
  std::string content_type;  // empty if there is no body (204, 304)
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  bool close = false;  // close the connection after this response
};

// The connection of a long-lived answer, for its handler. Everything here runs on the connection's io thread.
// Threads: strand (the io thread that executor() names).
class StreamConnection {
 public:
  virtual ~StreamConnection() = default;
  // Sends the spans in order, coalesced. Returns true if all of it is in the kernel. Otherwise the rest is kept (with
  // its owners) and on_drained() follows once it is sent; the handler should not write more until then.
  virtual bool write(std::span<const ByteSpan> spans) = 0;
  // Sends the kept bytes, then closes: a WebSocket with this close code and reason, an event stream by its end.
  virtual void finish(std::uint16_t code, std::string_view reason) = 0;
  virtual Executor& executor() = 0;
};

enum class CloseCause { peer, finished, write_deadline, no_pong, protocol, shutdown, error };

// The program's handler of a long-lived answer. Called only on the connection's io thread.
class StreamHandler {
 public:
  virtual ~StreamHandler() = default;
  virtual void on_open(StreamConnection& connection) = 0;  // connection stays valid until on_close
  virtual void on_drained() = 0;
  // Called about every second while open. Event streams send their own keep-alive; the connection sends WebSocket
  // pings.
  virtual void on_tick(std::int64_t steady_ms) = 0;
  virtual void on_message(std::string_view text) = 0;  // WebSocket text message, whole, valid UTF-8
  // The server is shutting down: send the last messages and finish(1001, …).
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
  Responder& operator=(Responder&& other) noexcept;  // its previous request gets the answer of a dropped one
  ~Responder();

  void send(Response response);
  // A response whose body continues until finish(). `head` has status, content type and headers; no Content-Length is
  // sent.
  void stream(Response head, std::shared_ptr<StreamHandler> handler);
  // Completes a WebSocket upgrade (request.is_websocket). The handler then writes framed bytes (websocket_frame.h).
  void upgrade(std::string subprotocol, std::vector<std::pair<std::string, std::string>> headers,
               std::shared_ptr<StreamHandler> handler);

  Executor& executor() const;  // the connection's io thread
  // Returns a function that says whether the peer has gone since (closed its side, or the connection broke), for
  // requests that wait. It may be called after the request was answered, from any thread.
  std::function<bool()> peer_watch() const;

 private:
  std::shared_ptr<Target> target_;
};

// The decision about a request whose headers have arrived and whose body has not.
struct Admission {
  std::size_t max_body_bytes = 0;
  std::optional<Response> refuse;  // sent instead; the body is not read and the connection closes
  std::string caller = {};         // the caller whose share has the body's bytes; empty: the peer's address
};

// Threads: any (called from all io threads).
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  virtual Admission admit(const Request& head) = 0;
  virtual void handle(Request&& request, Responder responder) = 0;
  // The answer to input that is not HTTP or exceeds a bound (400, 408, 413, 414, 417, 426, 429, 431, 501, 503), and to
  // an unanswered request (500), in the API's error form.
  virtual Response protocol_error(int status, std::string_view reason, std::string_view message) = 0;
};

}  // namespace shepherd::net
