// The inbox: the items that need a person now, over all tasks, updated after each commit. It follows only approvals,
// commands, states and what is no event, so a thousand busy agents cost it nothing; it finds quiet agents in a sweep
// every kInboxSweep.
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

// Owns its follower. If the store cannot be read, it keeps its entries and tries again at the next sweep.
// Threads: any. `changed` is called on a worker thread.
class Inbox {
 public:
  // Reads the dismissals and starts to look at all tasks; until that is done the inbox is incomplete. The workers must
  // run until stop() has returned. A working agent that is quiet for `stall` is listed.
  static Result<std::unique_ptr<Inbox>> open(Journal& journal, Executor& workers, const Clock& clock,
                                             std::chrono::milliseconds stall = kStallSilence);
  ~Inbox();
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  // Active tasks, each as of its last event of these types or of the last sweep.
  struct TaskGroup {
    State state = State::queued;
    std::string agent, model;
    friend auto operator<=>(const TaskGroup&, const TaskGroup&) = default;
  };
  std::map<TaskGroup, std::size_t> active() const;

  // By urgency. An empty `task` means all.
  std::vector<TaskNeed> needs(const std::string& task) const;
  std::size_t size() const;

  // Removes a failed or stalled task until it has a new event; survives a restart. conflict/nothing_to_dismiss if there
  // is no such entry.
  void dismiss(const std::string& task, Done<void> done);

  // Called with the number of entries whenever one was added, removed or changed; never after stop() has returned.
  void on_change(std::function<void(std::size_t)> changed);

  void tick();  // call about every kServerTick
  void stop();  // stops following and waits for active work

 private:
  struct Impl;
  explicit Inbox(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;  // shared, because feed and workers may still hold it afterwards
};

}  // namespace shepherd
