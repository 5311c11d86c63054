// The inbox: what needs a person now, over all tasks, kept up to date behind the commit. It reads approvals, commands
// and states by a feed that carries only those types, so a thousand busy agents cost it nothing. It looks for agents
// that have gone quiet every kInboxSweep.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/executor.h"
#include "base/limits.h"
#include "base/result.h"
#include "journal/journal.h"
#include "views/needs.h"

namespace shepherd {

// Owns its feed. When the store cannot be read it keeps what it knows and looks again with the next sweep.
// Threads: any. `changed` is called on a worker thread.
class Inbox {
 public:
  // Reads what has been dismissed, and begins to look at the tasks there are: until that is done the inbox is not full.
  // `executor` must be sequential; it and the workers must run until stop() has returned. A working agent that is quiet
  // for `stall` is listed.
  static Result<std::unique_ptr<Inbox>> open(Journal& journal, Executor& executor, Executor& workers,
                                             const Clock& clock, std::chrono::milliseconds stall = kStallSilence);
  ~Inbox();
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  // Tasks that are under way. Each is as of its last event of these types, or as of the last sweep.
  struct TaskGroup {
    State state = State::queued;
    std::string agent, model;
    friend auto operator<=>(const TaskGroup&, const TaskGroup&) = default;
  };
  std::map<TaskGroup, std::size_t> active() const;
  // A task was made.
  void created(const std::string& task);

  // By urgency. An empty `task`: of all.
  std::vector<TaskNeed> needs(const std::string& task) const;
  std::size_t size() const;

  // Takes a failed or stalled task off until something new happens to it; survives a restart.
  // conflict/nothing_to_dismiss when there is no such entry.
  void dismiss(const std::string& task, Done<void> done);
  // The task was deleted.
  void forget(const std::string& task);

  // Called whenever an entry came, went or changed, with how many there are; not after stop() has returned.
  void on_change(std::function<void(std::size_t)> changed);

  void tick();  // about every kServerTick
  void stop();  // ends the feed and waits for what is under way

 private:
  struct Impl;
  explicit Inbox(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;  // shared: feed and workers may still hold it when the inbox goes
};

}  // namespace shepherd
