// The connection to an agent that is a gRPC service: one call that streams messages both ways.
//
// Owns its channel (a separate connection, so that another run's failure does not affect it) and one thread, which
// connects, climbs the stop ladder and reports the end. It handles only bytes: messages pass unread in any protocol.
// The agent's messages are read as fast as the listener takes them; flow control slows the agent down.
//
// It ends when the agent ends the call, or by stop(): the agent's own interrupt, closing our side, cancellation. A
// service that is unreachable within the target's `connect_wait` also ends, as UNAVAILABLE.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "process/agent_link.h"
#include "runner/limits.h"

namespace grpc {
class Channel;
class Status;
}  // namespace grpc

namespace shepherd {

class GrpcCall;

struct GrpcTarget {
  std::string address;  // host:port, or a gRPC target
  std::string method;   // "/package.Service/Method"
  bool tls = false;
  std::string ca_pem;             // empty for the system's roots
  std::string cert_pem, key_pem;  // our own; empty for none
  std::string server_name;        // the name in its certificate; empty for the address's
  std::vector<std::pair<std::string, std::string>> metadata;
  std::chrono::milliseconds connect_wait = kAgentConnectWait;
};

// Threads: any for public functions; everything else runs on its own thread.
class GrpcLink final : public AgentLink {
 public:
  // `listener` and `clock` must outlive it. on_end() always follows.
  GrpcLink(GrpcTarget target, AgentObserver& listener, const Clock& clock);
  ~GrpcLink() override;  // kill(), then waits for the end

  Result<void> write(std::string_view bytes) override;
  void close_input() override;
  void stop(StopPlan plan) override EXCLUDES(mutex_);
  void kill() override EXCLUDES(mutex_);
  std::int64_t last_output_ms() const override;

 private:
  void run();
  // Returns the status of a call that cannot begin. If only gRPC has the reason, the call begins anyway and reports it.
  std::optional<grpc::Status> connect(grpc::Channel& channel) EXCLUDES(mutex_);
  void look() EXCLUDES(mutex_);
  void climb(const StopPlan& plan);
  void cancel();
  void wait_until_after(std::chrono::milliseconds wait) { deadline_ms_ = clock_.steady_ms() + wait.count(); }
  void end(const grpc::Status& status);

  const GrpcTarget target_;
  AgentObserver& listener_;
  const Clock& clock_;
  const std::unique_ptr<GrpcCall> call_;

  // Owned by the thread.
  bool connected_ = false;
  StopRung rung_ = StopRung::none;
  std::int64_t deadline_ms_ = -1;  // of the rung; -1 if there is none

  Mutex mutex_;
  std::optional<StopPlan> plan_ GUARDED_BY(mutex_);
  bool killed_ GUARDED_BY(mutex_) = false;

  std::thread thread_;  // last, because it uses all of the above
};

}  // namespace shepherd
