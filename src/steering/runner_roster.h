// Who asks for work: the runners that have claimed lately or have a task, and what they take. So a task that no
// runner takes says so instead of waiting without a word.
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

// Whether a runner with this claim may have the task, its state apart.
bool suits(const TaskSpec& spec, const ClaimRequest& request);
// The same for a task of this agent, meant for this runner (empty: any), with these labels.
bool suits(const std::string& agent, const std::string& runner, const std::map<std::string, std::string>& labels,
           const ClaimRequest& request);

// Threads: any.
class RunnerRoster {
 public:
  explicit RunnerRoster(const Clock& clock) : clock_(clock) {}

  // It asked for work: it is here for kRunnerSeenSeconds, and longer while it has a task.
  void note(const ClaimRequest& request) EXCLUDES(mutex_);
  // Forgets who has not been heard of and has no task.
  void forget_silent(const std::set<std::string>& with_tasks) EXCLUDES(mutex_);
  std::size_t size() const EXCLUDES(mutex_);

  // Why no runner takes a queued task, for people; empty when one does, or when it wants no runner.
  std::string why_waiting(const TaskSpec& spec) const EXCLUDES(mutex_);

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
