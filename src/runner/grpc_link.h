// The connection to an agent that is a gRPC service: one call that streams messages both ways.
//
// Owns its channel (a connection of its own, so that runs do not disturb each other) and one thread, which connects,
// climbs the stop ladder and reports the end. It passes messages unread, so it works with any protocol. It reads what
// the agent sends as fast as the listener takes it; flow control holds the agent back.
//
// How it ends. The agent ends the call, or stop() does: the agent's own interrupt, the end of our side, cancellation.
// A service that cannot be reached within the target's `connect_wait` ends too, as UNAVAILABLE.
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
  std::string address;  // host:port, or what gRPC calls a target
  std::string method;   // "/package.Service/Method"
  bool tls = false;
  std::string ca_pem;             // empty: the system's roots
  std::string cert_pem, key_pem;  // of ours; empty: none
  std::string server_name;        // that its certificate has; empty: the address's
  std::vector<std::pair<std::string, std::string>> metadata;
  std::chrono::milliseconds connect_wait = kAgentConnectWait;
};

// Threads: public functions any; everything else its own thread.
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
  // The status that the call ends with when it cannot begin. Where only gRPC knows why, the call begins and reports it.
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

  // The thread's own.
  bool connected_ = false;
  StopRung rung_ = StopRung::none;
  std::int64_t deadline_ms_ = -1;  // of the rung; -1: none

  Mutex mutex_;
  std::optional<StopPlan> plan_ GUARDED_BY(mutex_);
  bool killed_ GUARDED_BY(mutex_) = false;

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace shepherd
