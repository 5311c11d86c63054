// Sends `task_update` messages with changed rows to WebSocket clients that follow many logs, at most one every
// kTaskUpdateInterval per task, and `task_deleted` when one is gone. It follows the change stream only while there is
// such a client.
#pragma once

#include <memory>

#include "api/live_registry.h"
#include "base/clock.h"
#include "base/executor.h"
#include "journal/journal.h"
#include "steering/steering.h"

namespace shepherd {

// The destructor waits for active work on a worker thread and for the posts of the streams' io threads.
// Threads: any.
class TaskUpdates {
 public:
  // With a nullptr `redactor`, rows are not redacted.
  TaskUpdates(Journal& journal, Steering& steering, const Redactor* redactor, Executor& workers, const Clock& clock,
              LiveRegistry& live);
  ~TaskUpdates();
  TaskUpdates(const TaskUpdates&) = delete;
  TaskUpdates& operator=(const TaskUpdates&) = delete;

  // Adds a listener, which gets what changes after `place`.
  void watch(Place place);
  void unwatch();
  // Call about every second: sends delayed rows.
  void tick();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  // shared, because workers may still hold it afterwards
};

}  // namespace shepherd
