// Stops the program that run_program() waits for: now, or as soon as it starts.
//
// A runner's preparations (a clone, a work tree, a version query) can take long, and a stop must not wait for them.
// Threads: any.
#pragma once

#include <optional>

#include "base/mutex.h"
#include "process/agent_process.h"

namespace shepherd {

class ProgramStop {
 public:
  // Sends SIGTERM, so that it can clean up, and soon SIGKILL to all its processes. Does not wait.
  void stop() EXCLUDES(mutex_);
  bool stopped() const EXCLUDES(mutex_);
  // The ended processes; nullopt if nothing ran.
  std::optional<AgentEnd> end() const EXCLUDES(mutex_);

 private:
  friend class StoppableProgram;
  mutable Mutex mutex_;
  bool stopped_ GUARDED_BY(mutex_) = false;
  AgentProcess* running_ GUARDED_BY(mutex_) = nullptr;
  std::optional<AgentEnd> end_ GUARDED_BY(mutex_);
};

// Registers a running process with the stop for its lifetime. `stop` may be null. Threads: caller.
class StoppableProgram {
 public:
  StoppableProgram(ProgramStop* stop, AgentProcess& process);
  ~StoppableProgram();
  StoppableProgram(const StoppableProgram&) = delete;
  StoppableProgram& operator=(const StoppableProgram&) = delete;

  // The program has ended; returns true if the stop ended it.
  bool was_stopped(const AgentEnd& end);

 private:
  ProgramStop* stop_;
};

}  // namespace shepherd
