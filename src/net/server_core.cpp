#include "net/server_core.h"

#include <utility>

namespace shepherd::net {

ServerMetrics::ServerMetrics(MetricRegistry& registry, const std::string& server_name)
    : connections(registry.gauge("shepherd_connections", "Open connections.", "server=\"" + server_name + "\"")),
      accepted(registry.counter("shepherd_connections_accepted_total", "Connections accepted.",
                                "server=\"" + server_name + "\"")),
      refused(registry.counter("shepherd_connections_refused_total", "Connections refused because there were too many.",
                               "server=\"" + server_name + "\"")),
      received_bytes(registry.counter("shepherd_received_bytes_total", "Bytes read from connections.",
                                      "server=\"" + server_name + "\"")),
      sent_bytes(registry.counter("shepherd_sent_bytes_total", "Bytes written to connections.",
                                  "server=\"" + server_name + "\"")),
      streams(registry.gauge("shepherd_streams_open", "Open event streams and WebSockets.",
                             "server=\"" + server_name + "\"")),
      protocol_errors(registry.counter("shepherd_protocol_errors_total",
                                       "Requests and WebSocket frames that broke the protocol or a bound.",
                                       "server=\"" + server_name + "\"")),
      deadline_closes(registry.counter("shepherd_deadline_closes_total",
                                       "Connections closed because the peer sent nothing or too slowly.",
                                       "server=\"" + server_name + "\"")),
      write_deadline_closes(registry.counter("shepherd_write_deadline_closes_total",
                                             "Connections closed because the peer took nothing.",
                                             "server=\"" + server_name + "\"")) {}

ServerCore::ServerCore(ListenOptions listen_options, HttpHandler& http_handler, const Clock& server_clock,
                       MetricRegistry& registry, SslContext tls_context)
    : options(std::move(listen_options)),
      handler(http_handler),
      clock(server_clock),
      metrics(registry, options.name),
      tls(std::move(tls_context)),
      bodies(std::make_shared<BodyBudget>(options.max_caller_body_bytes, options.max_all_body_bytes)) {}

void ServerCore::connection_added() {
  connections_.fetch_add(1, std::memory_order_relaxed);
  metrics.connections.add(1);
}

void ServerCore::connection_gone() {
  metrics.connections.add(-1);
  MutexLock lock(mutex_);
  if (connections_.fetch_sub(1, std::memory_order_relaxed) == 1) changed_.notify_all();
}

void ServerCore::part_added() {
  MutexLock lock(mutex_);
  ++parts_;
}

void ServerCore::part_gone() {
  MutexLock lock(mutex_);
  --parts_;
  changed_.notify_all();
}

void ServerCore::wait_for_parts(std::size_t at_most) {
  MutexLock lock(mutex_);
  while (parts_ > at_most) changed_.wait(mutex_);
}

bool ServerCore::wait_for_connections(std::chrono::milliseconds timeout) {
  auto end = std::chrono::steady_clock::now() + timeout;
  MutexLock lock(mutex_);
  while (connections() > 0) {
    auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    changed_.wait_for(mutex_, left);
  }
  return true;
}

}  // namespace shepherd::net
