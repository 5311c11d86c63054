// One command that an agent has run beside it: its processes, its newest output, its end.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "driver/host_call.h"
#include "process/agent_process.h"
#include "tools/newest_bytes.h"

namespace shepherd {

// Threads: look() from any; the others from its owner's.
class HostTerminal final : public AgentObserver {
 public:
  // `over` is called once after a start that succeeded, on the process's own thread, when no process is left.
  HostTerminal(std::size_t keep_bytes, std::function<void()> over);

  // Blocks until the program runs. Errors are those of AgentProcess::start().
  Result<void> start(const AgentSpec& spec, const Clock& clock);
  void stop() { process_->stop(soon()); }  // SIGTERM, then SIGKILL
  void kill() { process_->kill(); }
  TerminalState look() const EXCLUDES(mutex_);
  // Call it after `over`.
  const AgentEnd& release() EXCLUDES(mutex_);

  void on_output(AgentStream stream, std::string_view bytes) override EXCLUDES(mutex_);
  void on_end(const AgentEnd& end) override EXCLUDES(mutex_);

 private:
  static StopPlan soon();

  const std::size_t keep_bytes_;
  const std::function<void()> over_;
  mutable Mutex mutex_;
  NewestBytes output_ GUARDED_BY(mutex_);
  std::optional<AgentEnd> end_ GUARDED_BY(mutex_);
  std::unique_ptr<AgentProcess> process_;  // last: its thread uses the others
};

// Output as UTF-8 of at most `most` bytes: begins with a whole character, and leaves out one at its end whose rest has
// not come. Threads: any.
std::string terminal_text(std::string_view bytes, std::size_t most);

}  // namespace shepherd
