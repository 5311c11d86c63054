// `task_update` messages: the rows of tasks that changed. They go to clients that follow many logs by WebSocket, at
// most one every kTaskUpdateInterval per task. A feed over all logs is open only while there is such a client.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "api/live_registry.h"
#include "base/clock.h"
#include "base/executor.h"
#include "journal/journal.h"
#include "steering/steering.h"

namespace shepherd {

// The destructor waits for a row that is being read on a worker thread.
// Threads: any.
class TaskUpdates {
 public:
  // `redactor` nullptr: rows are told as they are.
  TaskUpdates(Journal& journal, Steering& steering, const Redactor* redactor, Executor& workers, const Clock& clock,
              LiveRegistry& live);
  ~TaskUpdates();
  TaskUpdates(const TaskUpdates&) = delete;
  TaskUpdates& operator=(const TaskUpdates&) = delete;

  // A client begins to watch. The feed lives on the first one's executor and starts after `position`.
  void watch(Executor& executor, std::uint64_t position);
  void unwatch();
  // A row changed without an event (created, renamed).
  void touch(const std::string& task);
  // About every second: tells what had to wait.
  void tick();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  // shared: feed and workers may still hold it when this goes
};

}  // namespace shepherd
