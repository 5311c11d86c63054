// The server's own reader of all logs. It reports to steering every task with events that deadlines, leases or
// callbacks depend on. It reads a feed like any other client, and keeps its cursor in the store, so that a crash
// between a task's end and what follows from it loses nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/executor.h"
#include "base/result.h"
#include "journal/journal.h"

namespace shepherd {

// Owns the feed. Events: command, command_result, approval, status.
// Threads: any for tick() and stop(); `on_tasks` is called on a worker thread, one call at a time.
class Watch {
 public:
  // on_tasks(tasks, done) looks at these tasks and calls done(true) once all that follows from them is committed, or
  // done(false) when that failed: then they come again. Nothing after them is read before done().
  using OnTasks = std::function<void(std::vector<std::string> tasks, std::move_only_function<void(bool)> done)>;

  // Starts after the stored cursor, or at the newest position when there is none yet. `executor` must be sequential and
  // outlive stop().
  static Result<std::unique_ptr<Watch>> open(Journal& journal, Executor& executor, Executor& workers,
                                             const Clock& clock, OnTasks on_tasks);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // About every kServerTick: keeps the cursor, goes on after a failure.
  void tick();
  // Ends the feed and waits for what is under way. on_tasks is not called afterwards.
  void stop();

 private:
  struct Impl;
  explicit Watch(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;  // shared: feed and workers may still hold it when the watch goes
};

}  // namespace shepherd
