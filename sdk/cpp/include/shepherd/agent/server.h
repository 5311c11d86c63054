// The server of a streaming agent. It runs a work function behind gibson.agent.AgentService/StreamExecute and adds gRPC
// health and reflection. Each stream runs the work function on a thread of its own.
//
//   int main() {
//     return shepherd::agent::serve({.address = "127.0.0.1:50051"}, [](shepherd::agent::Execution& run) {
//       run.output("Working on " + run.task().goal);
//     });
//   }
//
// When the work function returns, the stream reports COMPLETED; when it throws, a fatal error and FAILED.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "shepherd/agent/execution.h"
#include "shepherd/agent/log.h"
#include "shepherd/agent/metrics.h"

namespace shepherd::agent {

using Work = std::function<void(Execution&)>;

// The batch defaults suit a person who watches: text that is joined for longer feels late, and shorter batches flood
// the screen.
struct ServerOptions {
  std::string address = "127.0.0.1:0";  // host:port (port 0 for any free one) or unix:PATH

  std::size_t batch_bytes = 1'000;                     // joined text is sent at this size
  std::chrono::milliseconds batch_interval{100};       // joined text is sent at this age
  std::size_t send_queue = 64;                         // messages that may wait for the network
  std::chrono::milliseconds send_deadline{5'000};      // how long sending may wait; then the stream is given up
  std::size_t steering_queue = 256;                    // unread messages of the operator; the library refuses more
  std::size_t max_streams = 64;                        // concurrent streams, a thread each; more get RESOURCE_EXHAUSTED
  std::chrono::milliseconds shutdown_deadline{5'000};  // how long work may take to return

  // The answer to a steering message. The default is a short acknowledgement that repeats the content.
  std::function<std::string(const Steering&)> acknowledge = {};
  LogSink log = json_lines_on_stderr();

  std::string certificate_file = {}, key_file = {};  // PEM; set both for TLS
  std::string client_ca_file = {};  // PEM; callers must present a certificate of one of these authorities (needs TLS)
  std::string token = {};           // callers must send `authorization: Bearer TOKEN`

  std::string metrics_address = {};  // host:port; serves the counters to Prometheus at http://ADDRESS/metrics
};

// Owns the listening sockets and the threads of its streams. Throws std::runtime_error when it cannot listen or cannot
// read a file; what() names the address or file. Threads: any.
class AgentServer {
 public:
  AgentServer(ServerOptions options, Work work);
  ~AgentServer();  // shuts down, then waits until every work function has returned
  AgentServer(const AgentServer&) = delete;
  AgentServer& operator=(const AgentServer&) = delete;

  int port() const;          // 0 for a unix socket
  int metrics_port() const;  // 0 when metrics are not served
  const Metrics& metrics() const;
  // Rejects new streams, reports INTERRUPTED on running ones and ends them. Returns false if some work has not returned
  // by the deadline.
  bool shutdown();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// Serves until SIGTERM or SIGINT, then shuts down. Returns the program's exit code: 0, or 1 if the server could not
// start (the reason is on standard error). If work does not return by the deadline, the process exits with 1 at once.
int serve(ServerOptions options, Work work);

}  // namespace shepherd::agent
