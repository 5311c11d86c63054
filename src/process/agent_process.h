// One running agent: its processes, its streams, its end.
//
// Owns the agent's whole process tree through a warden (warden.h) and ends all of it on every path: the agent exits by
// itself, stop(), kill(), the destructor, the death of this process. It handles only bytes; its listener interprets
// lines and records.
//
// When the agent's first process exits, on_exit() reports it. Its output is read until both streams close, or for
// kAgentDrain if other processes still hold them open. Then the rest of the tree is killed, and on_end() lists all
// ended processes.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "process/agent_link.h"
#include "process/launch_warden.h"
#include "process/warden_wire.h"

namespace shepherd {

struct AgentUsage {
  std::int64_t cpu_ms = 0;           // of all processes the agent has ever run and waited for
  std::uint64_t resident_bytes = 0;  // of all living processes; shared pages count in each
  std::size_t processes = 0;
};

// While its listener is busy, the agent can write kAgentPipeBytes before it blocks.
// Threads: any for public functions; everything else runs on its own thread, one poll loop over the agent's streams,
// its warden and requests of callers.
class AgentProcess final : public AgentLink {
 public:
  // Returns once the agent's program runs; errors are those of launch_agent(). `listener` and `clock` must outlive it.
  static Result<std::unique_ptr<AgentProcess>> start(const AgentSpec& spec, AgentObserver& listener,
                                                     const Clock& clock);
  ~AgentProcess() override;  // kill(), then waits for the end

  pid_t pid() const { return launched_.agent; }
  ConfineLevel confined() const { return launched_.confined; }  // the level in effect
  ConfineMeans confined_by() const { return launched_.means; }
  const std::string& why_not_better() const { return launched_.why_not_better; }
  // For programs beside it. Errors are those of share_confinement(): call it soon after the start.
  Result<std::shared_ptr<const SharedConfinement>> share_confinement() const {
    return shepherd::share_confinement(launched_);
  }

  Result<void> write(std::string_view bytes) override EXCLUDES(mutex_);
  std::size_t unread_bytes() const override EXCLUDES(mutex_);
  void close_input() override EXCLUDES(mutex_);

  // SIGSTOP and SIGCONT to every process of the tree. A stop resumes first.
  void pause() override EXCLUDES(mutex_) { ask_pause(true); }
  void resume() override EXCLUDES(mutex_) { ask_pause(false); }

  void stop(StopPlan plan) override EXCLUDES(mutex_);
  void kill() override EXCLUDES(mutex_);

  // Waits until on_end() has returned; nullopt if the time was not enough.
  std::optional<AgentEnd> wait(std::chrono::milliseconds timeout) EXCLUDES(mutex_);

  std::int64_t last_output_ms() const override { return last_output_ms_; }
  // Reads /proc, about 20 microseconds per process.
  AgentUsage usage() const EXCLUDES(warden_mutex_);

 private:
  enum class Phase {
    running,
    stopping,  // on a rung of the ladder
    draining,  // the agent has exited, its output has not ended
    ending,    // the warden kills the remaining processes
    done
  };
  // One of the agent's output streams.
  struct Output {
    AgentStream stream;
    Descriptor& descriptor;
  };

  // `wake` is an eventfd.
  AgentProcess(LaunchedAgent launched, Descriptor wake, bool with_stdin, AgentObserver& listener, const Clock& clock);

  void ask_pause(bool paused) EXCLUDES(mutex_);
  void run();
  void step() EXCLUDES(mutex_);
  void take_requests() EXCLUDES(mutex_);
  void write_stdin() EXCLUDES(mutex_);
  void drop_stdin() EXCLUDES(mutex_);
  bool read_output(Output output, int reads);
  void hear_warden();
  void time_passed();
  void climb();
  void begin_end();
  void exited(AgentExit exit);
  void ended(AgentEnd end) EXCLUDES(mutex_);
  void warden_lost();
  void release(bool stuck, std::int64_t cpu_ms) EXCLUDES(warden_mutex_);
  void tell(WardenVerb verb, std::vector<std::int64_t> numbers = {});
  void wait_until_after(std::chrono::milliseconds wait) { deadline_ms_ = clock_.steady_ms() + wait.count(); }
  void wake();

  LaunchedAgent launched_;
  AgentObserver& listener_;
  const Clock& clock_;
  Descriptor wake_;
  std::atomic<std::int64_t> last_output_ms_;

  // Owned by the thread.
  Phase phase_ = Phase::running;
  StopPlan plan_;
  StopRung rung_ = StopRung::none;
  std::optional<AgentExit> exit_;
  std::int64_t deadline_ms_ = -1;  // of the phase; -1 if there is none
  std::string buffer_;

  mutable Mutex mutex_;
  CondVar finished_;
  std::string stdin_ GUARDED_BY(mutex_);
  bool stdin_open_ GUARDED_BY(mutex_);
  bool close_stdin_ GUARDED_BY(mutex_) = false;
  std::optional<StopPlan> asked_stop_ GUARDED_BY(mutex_);
  bool asked_kill_ GUARDED_BY(mutex_) = false;
  std::optional<bool> asked_pause_ GUARDED_BY(mutex_);
  std::optional<AgentEnd> end_ GUARDED_BY(mutex_);

  // While it is held, no other process can get the warden's number.
  mutable Mutex warden_mutex_;
  std::optional<std::int64_t> final_cpu_ms_ GUARDED_BY(warden_mutex_);  // set once the warden is released

  std::thread thread_;  // last, because it uses all of the above
};

}  // namespace shepherd
