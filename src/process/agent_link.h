// The connection to one agent, whatever it is: a program of ours (agent_process.h) or a service somewhere
// (grpc_link.h).
//
// It carries bytes or whole messages between the agent and a listener, and ends the agent by a ladder whose last rung
// always works. What they mean is the driver's matter.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string_view>

#include "base/result.h"
#include "process/agent_end.h"
#include "process/limits.h"

namespace shepherd {

enum class AgentStream { out, err };

// Called by the link's own threads, one call at a time. While a call lasts, the agent can write a bounded amount
// before it has to wait; so none of them may wait for a server. They may call the link, but not destroy it.
class AgentObserver {
 public:
  virtual ~AgentObserver() = default;
  virtual void on_output(AgentStream stream, std::string_view bytes) = 0;
  // From links to services: one whole message.
  virtual void on_record(std::string_view) {}
  // The agent may live on after closing a stream.
  virtual void on_output_closed(AgentStream) {}
  // The first process is gone. Output may still follow.
  virtual void on_exit(const AgentExit&) {}
  // The last call: no process is left, and all output that can come has come.
  virtual void on_end(const AgentEnd& end) = 0;
};

// The stop ladder. Each rung waits this long for the agent to end; a wait of 0 leaves the rung out. For a service
// SIGINT is the end of our side of the stream, and what comes after it is its cancellation.
struct StopPlan {
  std::function<bool()> interrupt;  // the agent's own way, by its driver; false, or none: there is no such way
  std::chrono::milliseconds interrupt_wait = kInterruptWait;
  std::chrono::milliseconds sigint_wait = kSigintWait;    // to the first process
  std::chrono::milliseconds sigterm_wait = kSigtermWait;  // to its process group
  std::chrono::milliseconds sigkill_wait = kSigkillWait;  // to every process; those still there then are listed as left
};

// Threads: any. Destroying it ends the agent and waits for that.
class AgentLink {
 public:
  AgentLink() = default;
  virtual ~AgentLink() = default;
  AgentLink(const AgentLink&) = delete;
  AgentLink& operator=(const AgentLink&) = delete;

  // Queues bytes for the agent and never waits; to a service: framed messages (driver/record_frames.h).
  // rate_limited/stdin_full when kMaxStdinBytes are waiting (nothing is taken then), gone/stdin_closed when it takes no
  // more.
  virtual Result<void> write(std::string_view bytes) = 0;
  virtual void close_input() = 0;  // after what is queued

  // Every process stands still, or goes on. A service has its own way, by its driver.
  virtual void pause() {}
  virtual void resume() {}

  // Climbs the ladder from its first rung; a second call changes nothing. on_end() follows.
  virtual void stop(StopPlan plan) = 0;
  // The last rung at once, also in the middle of a stop.
  virtual void kill() = 0;

  // Steady time of the last output, or of the start.
  virtual std::int64_t last_output_ms() const = 0;
};

}  // namespace shepherd
