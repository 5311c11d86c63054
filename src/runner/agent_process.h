// One running agent: its processes, its streams, its end.
//
// Owns the agent's whole tree of processes through a warden (warden.h), and ends all of it on every path: the agent
// exits by itself, stop(), kill(), the destructor, the death of this process. Knows bytes only; lines and records are
// its listener's matter.
//
// How it ends. When the agent's first process exits, on_exit() tells; its output is read until both streams close, or
// for kAgentDrain when others still hold them open. Then whatever is left of the tree is killed, and on_end() lists
// everybody who is gone.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/limits.h"
#include "base/result.h"
#include "runner/agent_end.h"
#include "runner/launch_warden.h"

namespace shepherd {

enum class AgentStream { out, err };

// Called on the process's own thread, one call at a time. While a call lasts, the agent can write kAgentPipeBytes more
// before it has to wait; so none of them may wait for a server. They may call the AgentProcess, but not destroy it.
class AgentListener {
 public:
  virtual ~AgentListener() = default;
  virtual void on_output(AgentStream stream, std::string_view bytes) = 0;
  // The agent may live on after closing a stream.
  virtual void on_output_closed(AgentStream) {}
  // The first process is gone. Output may still follow.
  virtual void on_exit(const AgentExit&) {}
  // The last call: nobody is left, and all output that can come has come.
  virtual void on_end(const AgentEnd& end) = 0;
};

// The stop ladder. Each rung waits so long for the agent's first process to exit; a wait of 0 leaves the rung out.
struct StopPlan {
  std::function<bool()> interrupt;  // the agent's own way, by its driver; false, or none: there is no such way
  std::chrono::milliseconds interrupt_wait = kInterruptWait;
  std::chrono::milliseconds sigint_wait = kSigintWait;    // to the first process
  std::chrono::milliseconds sigterm_wait = kSigtermWait;  // to its process group
  std::chrono::milliseconds sigkill_wait = kSigkillWait;  // to everybody; who is still there then is listed as left
};

struct AgentUsage {
  std::int64_t cpu_ms = 0;           // of everything the agent has ever run, as far as it was waited for
  std::uint64_t resident_bytes = 0;  // of all living processes; shared pages count in each
  std::size_t processes = 0;
};

// Threads: any.
class AgentProcess {
 public:
  // Returns once the agent's program runs; errors are those of launch_agent(). `listener` and `clock` must outlive it.
  static Result<std::unique_ptr<AgentProcess>> start(const AgentSpec& spec, AgentListener& listener,
                                                     const Clock& clock);
  ~AgentProcess();  // kill(), then waits for the end
  AgentProcess(const AgentProcess&) = delete;
  AgentProcess& operator=(const AgentProcess&) = delete;

  pid_t pid() const;

  // Queues bytes for the agent's stdin and never waits. rate_limited/stdin_full when kMaxStdinBytes are waiting
  // (nothing is taken then), gone/stdin_closed when it has none or has closed it.
  Result<void> write(std::string_view bytes);
  void close_stdin();  // after what is queued

  // SIGSTOP and SIGCONT to every process of the tree. A stop resumes first.
  void pause();
  void resume();

  // Climbs the ladder from its first rung; a second call changes nothing. on_end() follows.
  void stop(StopPlan plan = {});
  // The last rung at once, also in the middle of a stop.
  void kill();

  // Waits for the end; nullopt when it did not come in time. After on_end() has returned.
  std::optional<AgentEnd> wait(std::chrono::milliseconds timeout);

  // Steady time of the last byte of output, or of the start.
  std::int64_t last_output_ms() const;
  // A look at /proc, about 20 microseconds a process.
  AgentUsage usage() const;

 private:
  class Loop;
  explicit AgentProcess(std::unique_ptr<Loop> loop);
  std::unique_ptr<Loop> loop_;
};

}  // namespace shepherd
