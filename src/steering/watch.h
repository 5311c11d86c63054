// The server's own reader of all logs. It reports to steering every task with an event that affects deadlines, leases
// or callbacks. It reads a feed like any other client and keeps its cursor in the store, so a crash between a task's
// end and its consequences loses nothing.
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
  // on_tasks(tasks, done) handles these tasks and calls done(true) once all consequences are committed, or done(false)
  // to get them again. The watch reads nothing further before done().
  using OnTasks = std::function<void(std::vector<std::string> tasks, std::move_only_function<void(bool)> done)>;

  // Starts after the stored cursor, or at the newest position if there is none. `executor` must be sequential and
  // outlive stop().
  static Result<std::unique_ptr<Watch>> open(Journal& journal, Executor& executor, Executor& workers,
                                             const Clock& clock, OnTasks on_tasks);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // Call about every kServerTick: stores the cursor and continues after a failure.
  void tick();
  // Ends the feed and waits for active calls. on_tasks is not called afterwards.
  void stop();

 private:
  struct Impl;
  explicit Watch(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;  // shared, because feed and workers may still hold it afterwards
};

}  // namespace shepherd
