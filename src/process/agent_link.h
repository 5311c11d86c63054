// The connection to one agent of any kind: a local program (agent_process.h), a remote service (grpc_link.h) or a local
// program that is a service (http_link.h).
//
// It carries bytes or whole messages between the agent and a listener, and ends the agent by a ladder whose last rung
// always works. The driver interprets the content.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "base/result.h"
#include "process/agent_end.h"
#include "process/limits.h"

namespace shepherd {

enum class AgentStream { out, err };

// Called by the link's own threads, one call at a time. During a call the agent can write only a bounded amount before
// it blocks, so no call may wait for a server. Calls may use the link, but not destroy it.
class AgentObserver {
 public:
  virtual ~AgentObserver() = default;
  virtual void on_output(AgentStream stream, std::string_view bytes) = 0;
  // For links to services: one whole message.
  virtual void on_record(std::string_view) {}
  // The agent may continue after closing a stream.
  virtual void on_output_closed(AgentStream) {}
  // The first process has exited. Output may still follow.
  virtual void on_exit(const AgentExit&) {}
  // The last call: no process is left, and all output has been delivered.
  virtual void on_end(const AgentEnd& end) = 0;
};

// The stop ladder (StopRung). Each rung waits this long for the agent to end; a wait of 0 skips the rung.
struct StopPlan {
  std::function<bool()> interrupt;  // the agent's own interrupt, by its driver; false or empty if there is none
  std::chrono::milliseconds interrupt_wait = kInterruptWait;
  std::chrono::milliseconds close_wait = kCloseWait;
  std::chrono::milliseconds terminate_wait = kTerminateWait;
  std::chrono::milliseconds kill_wait = kKillWait;  // then the rest is listed as left
};

// Threads: any. Destroying it ends the agent and waits for that.
class AgentLink {
 public:
  AgentLink() = default;
  virtual ~AgentLink() = default;
  AgentLink(const AgentLink&) = delete;
  AgentLink& operator=(const AgentLink&) = delete;

  // Queues bytes for the agent and never waits; for a service, framed messages (driver/record_frames.h).
  // rate_limited/stdin_full if kMaxStdinBytes are waiting (then nothing is queued), gone/stdin_closed if it accepts no
  // more.
  virtual Result<void> write(std::string_view bytes) = 0;
  virtual void close_input() = 0;  // after the queued bytes
  // Bytes for a program that do not even fit into its pipe yet.
  virtual std::size_t unread_bytes() const { return 0; }

  // Stops or continues every process. A service pauses through its driver.
  virtual void pause() {}
  virtual void resume() {}

  // Climbs the ladder from its first rung; a second call has no effect. on_end() follows.
  virtual void stop(StopPlan plan) = 0;
  // Goes to the last rung at once, also during a stop.
  virtual void kill() = 0;

  // Steady time of the last output, or of the start.
  virtual std::int64_t last_output_ms() const = 0;
};

}  // namespace shepherd
