// The programs that take a task's commands without a lease on it: a runner that posts to a task which was created for
// it, and says so with its command feed on the internal listener. Each is a lease of kind `taker` for as long as its
// connection is open, so that whether a command finds a taker is read in the transaction that accepts it. A feed over
// all logs counts for the task "".
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/mutex.h"
#include "journal/journal.h"
#include "steering/lease_rounds.h"
#include "steering/service_clock.h"

namespace shepherd {

// Stands for a task in this list: all tasks with that agent, for agents that run inside the server. No task has such an
// id.
inline std::string taker_of_agent(const std::string& agent) {
  return "agent:" + agent;
}

// Whether the commands of this task find a taker, as this transaction sees it: its runner, or such a feed.
Result<bool> has_taker(WriteTxn& txn, const TaskRow& task);

// Threads: any; tick() from one.
class CommandTakers {
 public:
  // `process` names this server process among all that have the store.
  CommandTakers(Journal& journal, LeaseRounds& rounds, ServiceClock& clock, std::string process)
      : journal_(journal), rounds_(rounds), clock_(clock), process_(std::move(process)) {}

  // A feed opens: from the next transaction of this process on it counts.
  void opened(const std::string& task) EXCLUDES(mutex_);
  void closed(const std::string& task) EXCLUDES(mutex_);
  bool is_open(const std::string& task) const EXCLUDES(mutex_);
  // Keeps the leases of the open feeds.
  void tick() EXCLUDES(mutex_);
  // The store lost this lease while its feed is open.
  void restore(const LeaseKey& key) EXCLUDES(mutex_);

 private:
  void put(const std::string& task) EXCLUDES(mutex_);
  LeaseKey key_of(const std::string& task) const { return {LeaseKind::taker, task, process_}; }

  Journal& journal_;
  LeaseRounds& rounds_;
  ServiceClock& clock_;
  const std::string process_;
  mutable Mutex mutex_;
  std::unordered_map<std::string, std::size_t> feeds_ GUARDED_BY(mutex_);  // how many, by task
  std::set<std::string> unwritten_ GUARDED_BY(mutex_);                     // the store did not take them yet
  std::int64_t renewed_ms_ = 0;                                            // owned by tick(); service clock
};

}  // namespace shepherd
