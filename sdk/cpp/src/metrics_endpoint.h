// GET /metrics over HTTP, for a Prometheus that looks at this agent. One request at a time, each with a time limit:
// what it tells is small and asked for every few seconds.
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
  // `address` is host:port, port 0 for any free one; `text` is called for each request.
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
