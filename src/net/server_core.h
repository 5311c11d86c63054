// The shared state of one server's shards.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>

#include "base/clock.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "net/body_budget.h"
#include "net/http.h"
#include "net/server.h"
#include "net/tls.h"

namespace shepherd::net {

struct ServerMetrics {
  ServerMetrics(MetricRegistry& registry, const std::string& server_name);

  Gauge& connections;
  Counter& accepted;
  Counter& refused;
  Counter& received_bytes;
  Counter& sent_bytes;
  Gauge& streams;
  Counter& protocol_errors;
  Counter& deadline_closes;
  Counter& write_deadline_closes;
};

// Counts live connections, so that shutdown() can wait for them.
// Threads: any.
class ServerCore {
 public:
  ServerCore(ListenOptions listen_options, HttpHandler& http_handler, const Clock& server_clock,
             MetricRegistry& registry, SslContext tls_context);

  const ListenOptions options;
  HttpHandler& handler;
  const Clock& clock;
  ServerMetrics metrics;
  const SslContext tls;  // null for plaintext
  const std::shared_ptr<BodyBudget> bodies;

  std::size_t connections() const { return connections_.load(std::memory_order_relaxed); }
  void connection_added();
  void connection_gone() EXCLUDES(mutex_);

  // A part is the listener or a shard: an object that the loops may still call.
  void part_added() EXCLUDES(mutex_);
  void part_gone() EXCLUDES(mutex_);
  void wait_for_parts(std::size_t at_most) EXCLUDES(mutex_);
  // Returns false if the time was not enough.
  bool wait_for_connections(std::chrono::milliseconds timeout) EXCLUDES(mutex_);

 private:
  std::atomic<std::size_t> connections_{0};
  Mutex mutex_;
  CondVar changed_;
  std::size_t parts_ GUARDED_BY(mutex_) = 0;
};

}  // namespace shepherd::net
