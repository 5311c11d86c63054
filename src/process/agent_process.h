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
#include <memory>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "process/agent_link.h"
#include "process/launch_warden.h"

namespace shepherd {

struct AgentUsage {
  std::int64_t cpu_ms = 0;           // of everything the agent has ever run, as far as it was waited for
  std::uint64_t resident_bytes = 0;  // of all living processes; shared pages count in each
  std::size_t processes = 0;
};

// While its listener is busy, the agent can write kAgentPipeBytes before it has to wait.
// Threads: any.
class AgentProcess final : public AgentLink {
 public:
  // Returns once the agent's program runs; errors are those of launch_agent(). `listener` and `clock` must outlive it.
  static Result<std::unique_ptr<AgentProcess>> start(const AgentSpec& spec, AgentObserver& listener,
                                                     const Clock& clock);
  ~AgentProcess() override;  // kill(), then waits for the end

  pid_t pid() const;
  ConfineLevel confined() const { return confined_; }  // the level that holds
  ConfineMeans confined_by() const { return confined_by_; }
  const std::string& why_not_better() const { return why_not_better_; }  // as of LaunchedAgent

  Result<void> write(std::string_view bytes) override;
  void close_input() override;

  // SIGSTOP and SIGCONT to every process of the tree. A stop resumes first.
  void pause() override;
  void resume() override;

  void stop(StopPlan plan) override;
  void kill() override;

  // Waits for the end; nullopt when it did not come in time. After on_end() has returned.
  std::optional<AgentEnd> wait(std::chrono::milliseconds timeout);

  std::int64_t last_output_ms() const override;
  // A look at /proc, about 20 microseconds a process.
  AgentUsage usage() const;

 private:
  class Loop;
  AgentProcess(std::unique_ptr<Loop> loop, ConfineLevel confined, ConfineMeans by, std::string why_not_better);
  std::unique_ptr<Loop> loop_;
  const ConfineLevel confined_;
  const ConfineMeans confined_by_;
  const std::string why_not_better_;
};

}  // namespace shepherd
