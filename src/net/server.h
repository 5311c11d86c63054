// The listening side: io threads and HTTP servers on them.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/executor.h"
#include "base/limits.h"
#include "base/metrics.h"
#include "base/result.h"
#include "net/http.h"
#include "net/limits.h"

namespace shepherd::net {

class EventLoop;

// N threads with an event loop each. A connection stays on its thread. Owns the threads; stop() cuts open connections,
// ends the loops and joins; later posts are dropped. It must outlive every holder of one of its executors, including a
// Responder. Threads: any.
class IoThreads {
 public:
  explicit IoThreads(std::size_t threads);
  ~IoThreads();
  IoThreads(const IoThreads&) = delete;
  IoThreads& operator=(const IoThreads&) = delete;

  std::size_t size() const;
  Executor& executor(std::size_t i);
  EventLoop& loop(std::size_t i);  // the same, for calls (http_call.h)
  void stop();

  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

struct TlsFiles {
  std::string certificate;  // PEM chain; empty for plaintext
  std::string key;
};

// Time limits for a peer. A sweep checks them, so they are exact to about `sweep`.
struct Deadlines {
  std::chrono::milliseconds header = kHeaderDeadline;
  std::chrono::milliseconds body = kBodyDeadline;
  std::chrono::milliseconds idle = kIdleDeadline;
  std::chrono::milliseconds write = kWriteDeadline;
  std::chrono::milliseconds tls_handshake = kTlsHandshakeDeadline;
  std::chrono::milliseconds keep_alive = kKeepAlive;
  std::chrono::milliseconds linger = kLingerDeadline;
  std::chrono::milliseconds sweep = kSweepInterval;
};

struct ListenOptions {
  std::string address;  // "127.0.0.1:8080", "[::1]:0"; port 0 picks a free one
  TlsFiles tls;
  std::size_t max_connections = kMaxConnections;
  std::size_t max_caller_body_bytes = kCallerBodyBytes;  // of unfinished requests, over all connections of a caller
  std::size_t max_all_body_bytes = kListenerBodyBytes;   // of unfinished requests, over all callers
  std::string name;                                      // for metrics and logs: "public", "internal"
  Deadlines deadlines;
};

// One listener and its connections, which are spread over the io threads in turn. A failed start has a message with the
// address and what to do (port taken, no permission, bad certificate). The handler, clock and metrics must outlive it.
// The destructor cuts what shutdown() has not ended; neither may be called on an io thread. Threads: any.
class HttpServer {
 public:
  static Result<std::unique_ptr<HttpServer>> listen(IoThreads& io, ListenOptions options, HttpHandler& handler,
                                                    const Clock& clock, MetricRegistry& metrics);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::uint16_t port() const;
  std::string url() const;  // "http://127.0.0.1:8080"
  // Stops accepting, lets requests in flight finish, tells streams to end (on_shutdown), closes idle connections.
  // Returns when all are gone or after `deadline_ms` (then the rest is cut). Blocks the caller.
  void shutdown(std::int64_t deadline_ms);

 private:
  struct Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace shepherd::net
