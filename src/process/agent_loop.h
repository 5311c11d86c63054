// The thread behind an AgentProcess: one poll loop over the agent's streams, its warden and what others ask for.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <thread>

#include "base/mutex.h"
#include "process/agent_process.h"
#include "process/warden_wire.h"

namespace shepherd {

// Threads: public functions any; everything else its own thread.
class AgentProcess::Loop {
 public:
  // `wake` is an eventfd.
  Loop(LaunchedAgent launched, Descriptor wake, bool with_stdin, AgentObserver& listener, const Clock& clock);
  ~Loop();

  Result<void> write(std::string_view bytes) EXCLUDES(mutex_);
  void close_stdin() EXCLUDES(mutex_);
  void ask_pause(bool paused) EXCLUDES(mutex_);
  void ask_stop(StopPlan plan) EXCLUDES(mutex_);
  void ask_kill() EXCLUDES(mutex_);
  std::optional<AgentEnd> wait(std::chrono::milliseconds timeout) EXCLUDES(mutex_);
  AgentUsage usage() const EXCLUDES(warden_mutex_);
  pid_t pid() const { return launched_.agent; }
  std::int64_t last_output_ms() const { return last_output_ms_; }

 private:
  enum class Phase {
    running,
    stopping,  // on a rung of the ladder
    draining,  // the agent has exited, its output has not ended
    ending,    // the warden kills what is left
    done
  };
  // One of the agent's output streams.
  struct Output {
    AgentStream stream;
    Descriptor& descriptor;
  };

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

  // The thread's own.
  Phase phase_ = Phase::running;
  StopPlan plan_;
  StopRung rung_ = StopRung::none;
  std::optional<AgentExit> exit_;
  std::int64_t deadline_ms_ = -1;  // of the phase; -1: none
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

  // While it is held the warden's number is its own.
  mutable Mutex warden_mutex_;
  std::optional<std::int64_t> final_cpu_ms_ GUARDED_BY(warden_mutex_);  // once the warden is released

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace shepherd
