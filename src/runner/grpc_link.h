// The connection to an agent that is a gRPC service: one call that streams messages both ways.
//
// Owns its channel (a connection of its own, so that no other run's trouble is its trouble) and one thread, which
// connects, climbs the stop ladder and tells the end. Knows bytes only: messages pass unread, whatever the protocol is.
// What the agent sends is read as fast as the listener takes it; flow control holds the agent back.
//
// How it ends: the agent ends the call, or stop() does: the agent's own interrupt, the end of our side, cancellation.
// A service that cannot be reached within the target's `connect_wait` ends too, as UNAVAILABLE.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "process/agent_link.h"
#include "runner/limits.h"

namespace shepherd {

struct GrpcTarget {
  std::string address;  // host:port, or what gRPC calls a target
  std::string method;   // "/package.Service/Method"
  bool tls = false;
  std::string ca_pem;             // empty: the system's roots
  std::string cert_pem, key_pem;  // of ours; empty: none
  std::string server_name;        // that its certificate has; empty: the address's
  std::vector<std::pair<std::string, std::string>> metadata;
  std::chrono::milliseconds connect_wait = kAgentConnectWait;
};

// Threads: any.
class GrpcLink final : public AgentLink {
 public:
  // `listener` and `clock` must outlive it. on_end() always follows.
  GrpcLink(GrpcTarget target, AgentObserver& listener, const Clock& clock);
  ~GrpcLink() override;  // kill(), then waits for the end

  Result<void> write(std::string_view bytes) override;
  void close_input() override;
  void stop(StopPlan plan) override;
  void kill() override;
  std::int64_t last_output_ms() const override;

 private:
  class Call;
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace shepherd
