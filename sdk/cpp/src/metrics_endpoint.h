// Serves GET /metrics over HTTP to Prometheus. It handles one request at a time, each with a time limit: answers are
// small and scrapes are seconds apart.
//
// Owns its socket and a thread. Throws std::runtime_error when it cannot listen.
// Threads: any.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <thread>

namespace shepherd::agent {

class MetricsEndpoint {
 public:
  // `address` is host:port, with port 0 for any free one. Each request calls `text`.
  MetricsEndpoint(const std::string& address, std::function<std::string()> text);
  ~MetricsEndpoint();
  MetricsEndpoint(const MetricsEndpoint&) = delete;
  MetricsEndpoint& operator=(const MetricsEndpoint&) = delete;

  int port() const { return port_; }

 private:
  void run() const;
  void answer(int client) const;

  std::function<std::string()> text_;
  int listener_ = -1;
  int stop_ = -1;  // an eventfd
  int port_ = 0;
  std::thread thread_;
};

}  // namespace shepherd::agent
