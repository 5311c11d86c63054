// The runners that are there, and the agents they accept. A runner is there because it said so: it reported itself or
// asked for work, or it has a task. With the roster, a task that no runner will ever take can say so.
//
// Each is a lease of kind `runner`. This process follows them to answer without reading the store.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "journal/journal.h"
#include "model/runner_json.h"
#include "model/task.h"
#include "steering/lease_rounds.h"
#include "steering/service_clock.h"

namespace shepherd {

// Whether this claim may get the task, apart from the task's state.
bool suits(const TaskInfo& spec, const ClaimRequest& request);
// The same for a task with this agent, this runner (empty for any) and these labels.
bool suits(const std::string& agent, const std::string& runner, const std::map<std::string, std::string>& labels,
           const ClaimRequest& request);

// Threads: any.
class RunnerRoster {
 public:
  RunnerRoster(Journal& journal, LeaseRounds& rounds, ServiceClock& clock)
      : journal_(journal), rounds_(rounds), clock_(clock) {}

  // The runner reports itself: it is there for kRunnerSeenSeconds, and longer while it has a task.
  void report(const std::string& runner, const RunnerAbout& about) EXCLUDES(mutex_);
  // A request for work says the same with the agents and labels it has.
  void asks(const ClaimRequest& request) EXCLUDES(mutex_);
  // The runner says goodbye.
  void leaves(const std::string& runner, std::move_only_function<void(Result<void>)> done) EXCLUDES(mutex_);
  // Its lease is over: it stays while it has a task and goes otherwise.
  void over(const Lease& lease, bool has_task) EXCLUDES(mutex_);

  // What the store has of this runner, or of all.
  Result<void> read(const std::string& runner) EXCLUDES(mutex_);
  Result<void> read_all() EXCLUDES(mutex_);

  std::set<std::string> names() const EXCLUDES(mutex_);
  // Why no runner takes a queued task, for people; empty if one does or the task needs no runner.
  std::string why_waiting(const TaskInfo& spec) const EXCLUDES(mutex_);

 private:
  void put(const std::string& runner, const RunnerAbout& about) EXCLUDES(mutex_);

  Journal& journal_;
  LeaseRounds& rounds_;
  ServiceClock& clock_;
  mutable Mutex mutex_;
  std::map<std::string, RunnerAbout> there_ GUARDED_BY(mutex_);
};

}  // namespace shepherd
