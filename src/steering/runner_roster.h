// The runners that have claimed recently or have a task, and the agents they accept. With it, a task that no runner
// will ever take can say so.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "model/runner_json.h"
#include "model/task.h"

namespace shepherd {

// Whether this claim may get the task, apart from the task's state.
bool suits(const TaskInfo& spec, const ClaimRequest& request);
// The same for a task with this agent, this runner (empty for any) and these labels.
bool suits(const std::string& agent, const std::string& runner, const std::map<std::string, std::string>& labels,
           const ClaimRequest& request);

// Threads: any.
class RunnerRoster {
 public:
  explicit RunnerRoster(const Clock& clock) : clock_(clock) {}

  // Notes a request for work: the runner counts as connected for kRunnerSeenSeconds, and longer while it has a task.
  void note(const ClaimRequest& request) EXCLUDES(mutex_);
  // Forgets runners that were silent and have no task.
  void forget_silent(const std::set<std::string>& with_tasks) EXCLUDES(mutex_);
  std::size_t size() const EXCLUDES(mutex_);

  // Why no runner takes a queued task, for people; empty if one does or the task needs no runner.
  std::string why_waiting(const TaskInfo& spec) const EXCLUDES(mutex_);

 private:
  struct Seen {
    std::vector<std::string> agents;
    std::map<std::string, std::string> labels;
    std::int64_t at_ms = 0;  // steady
  };

  const Clock& clock_;
  mutable Mutex mutex_;
  std::map<std::string, Seen> seen_ GUARDED_BY(mutex_);
};

}  // namespace shepherd
