// Ends the program that run_program() waits for: now, or as soon as it starts.
//
// What a runner does before its agent runs (a clone, a work tree, a question for a version) can take long; a stop does
// not wait for it.
// Threads: any.
#pragma once

#include <optional>

#include "base/mutex.h"
#include "process/agent_process.h"

namespace shepherd {

class ProgramStop {
 public:
  // SIGTERM, so that it can tidy up, and soon SIGKILL to all of it. Does not wait.
  void stop() EXCLUDES(mutex_);
  bool stopped() const EXCLUDES(mutex_);
  // Who was ended; nullopt when nothing ran.
  std::optional<AgentEnd> end() const EXCLUDES(mutex_);

 private:
  friend class StoppableProgram;
  mutable Mutex mutex_;
  bool stopped_ GUARDED_BY(mutex_) = false;
  AgentProcess* running_ GUARDED_BY(mutex_) = nullptr;
  std::optional<AgentEnd> end_ GUARDED_BY(mutex_);
};

// While it lives, the stop knows the process. `stop` may be null. Threads: caller.
class StoppableProgram {
 public:
  StoppableProgram(ProgramStop* stop, AgentProcess& process);
  ~StoppableProgram();
  StoppableProgram(const StoppableProgram&) = delete;
  StoppableProgram& operator=(const StoppableProgram&) = delete;

  // It has ended; true when the stop was why.
  bool was_stopped(const AgentEnd& end);

 private:
  ProgramStop* stop_;
};

}  // namespace shepherd
