// Keeps the leases of all tasks that this process runs: one thread that renews each of them several times within its
// period. A server that is away is asked again; one that says `lease_lost` has given the task to nobody or to somebody
// else, and its run is told, once.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/mutex.h"
#include "runner/limits.h"
#include "runner/runner_api.h"

namespace shepherd {

// Threads: any.
class LeaseKeeper {
 public:
  LeaseKeeper(Locate locate, net::ClientTls tls, std::string runner, const Clock& clock);
  ~LeaseKeeper();
  LeaseKeeper(const LeaseKeeper&) = delete;
  LeaseKeeper& operator=(const LeaseKeeper&) = delete;

  // `lost` is called on the thread of this class; not after drop() has returned.
  void keep(const TaskClaim& claim, std::function<void()> lost) EXCLUDES(mutex_);
  void drop(const std::string& task) EXCLUDES(mutex_);

  const std::string& runner() const { return runner_; }

 private:
  struct Held {
    TaskClaim claim;
    std::function<void()> lost;
    std::int64_t due_ms = 0;  // steady
  };

  void run() EXCLUDES(mutex_);
  void renew(const std::string& task, const TaskClaim& claim) EXCLUDES(mutex_);
  std::int64_t period_ms(const TaskClaim& claim) const { return claim.seconds * 1'000 / kLeaseRenewals; }

  RunnerApi api_;  // the thread's
  const std::string runner_;
  const Clock& clock_;
  Mutex mutex_;
  CondVar changed_;
  std::map<std::string, Held> held_ GUARDED_BY(mutex_);
  std::string telling_ GUARDED_BY(mutex_);  // the task whose `lost` is being called
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace shepherd
