// Sends `task_update` messages with changed rows to WebSocket clients that follow many logs, at most one every
// kTaskUpdateInterval per task. A feed over all logs is open only while there is such a client.
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

// The destructor waits for an active row read on a worker thread.
// Threads: any.
class TaskUpdates {
 public:
  // With a nullptr `redactor`, rows are not redacted.
  TaskUpdates(Journal& journal, Steering& steering, const Redactor* redactor, Executor& workers, const Clock& clock,
              LiveRegistry& live);
  ~TaskUpdates();
  TaskUpdates(const TaskUpdates&) = delete;
  TaskUpdates& operator=(const TaskUpdates&) = delete;

  // Adds a listener. The feed lives on the first listener's executor and starts after `position`.
  void watch(Executor& executor, std::uint64_t position);
  void unwatch();
  // A row changed without an event (created, renamed).
  void touch(const std::string& task);
  // Call about every second: sends delayed rows.
  void tick();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  // shared, because feed and workers may still hold it afterwards
};

}  // namespace shepherd
