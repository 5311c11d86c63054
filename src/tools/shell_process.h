// One command of a model: its processes, its output, its end.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/drain.h"
#include "base/executor.h"
#include "base/mutex.h"
#include "process/agent_process.h"
#include "tools/command_output.h"
#include "tools/toolbox.h"

namespace shepherd {

// Owns the processes through an AgentProcess, which ends all of them also when this process dies. It lives until they
// have ended, also if the run that started it is cancelled. Threads: any.
class ShellProcess final : public AgentObserver, public std::enable_shared_from_this<ShellProcess> {
 public:
  // `done` is called once, on a thread of `blocking`, when no process is left. `pass` is given up right after it.
  ShellProcess(AgentSpec spec, const Clock& clock, Executor& blocking, Drain::Pass pass,
               std::move_only_function<void(ToolOutcome)> done);

  void begin() EXCLUDES(mutex_);  // starts the command on a thread of `blocking`
  // Ends every process: SIGTERM, then SIGKILL. `why` is for the model; the first call counts.
  void stop(std::string why) EXCLUDES(mutex_);
  // Its last line of output, for people.
  std::string last_line() const EXCLUDES(mutex_);

  void on_output(AgentStream stream, std::string_view bytes) override EXCLUDES(mutex_);
  void on_end(const AgentEnd& end) override EXCLUDES(mutex_);

 private:
  void launch() EXCLUDES(mutex_);
  void release() EXCLUDES(mutex_);
  void finish(ToolOutcome outcome) EXCLUDES(mutex_);
  ToolOutcome outcome_of(const AgentEnd& end) const REQUIRES(mutex_);

  const AgentSpec spec_;
  const Clock& clock_;
  Executor& blocking_;
  std::optional<Drain::Pass> pass_;                  // used by the thread that calls `done`
  std::move_only_function<void(ToolOutcome)> done_;  // the same

  mutable Mutex mutex_;
  std::shared_ptr<ShellProcess> self_ GUARDED_BY(mutex_);  // from begin() to the end
  std::unique_ptr<AgentProcess> process_ GUARDED_BY(mutex_);
  std::optional<AgentEnd> end_ GUARDED_BY(mutex_);
  CommandOutput output_ GUARDED_BY(mutex_);
  std::string why_ GUARDED_BY(mutex_);  // it was stopped; or empty
};

}  // namespace shepherd
