// Matches waiting tasks and waiting runners. A claim is a transaction that finds the task still unclaimed and appends a
// `status` event with the runner; the event says the lease's epoch. Claims that find no task are parked, without
// a thread, until a task arrives or their time is over.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "base/result.h"
#include "journal/journal.h"
#include "model/runner_json.h"
#include "steering/leases.h"
#include "steering/runner_roster.h"

namespace shepherd {

struct Claim {
  std::string task;
  std::uint64_t epoch = 0;
  bool again = false;  // the runner had it already
};

// Threads: any.
class Claims {
 public:
  // nullopt if no task came in time.
  using Answer = Done<std::optional<Claim>>;
  // Whether the waiting peer has gone; such a claim takes no task.
  using PeerGone = std::function<bool()>;

  Claims(Journal& journal, Leases& leases, RunnerRoster& roster, const Clock& clock, MetricRegistry& metrics);
  ~Claims();  // answers every parked claim with nothing
  Claims(const Claims&) = delete;
  Claims& operator=(const Claims&) = delete;

  // Claims the oldest suitable task. With request.task it claims only that one and repeats the answer for the runner
  // that has it. Errors for a named task: conflict/already_claimed, conflict/not_claimable (it needs another runner or
  // agent), gone/task_ended, not_found/unknown_task. rate_limited/too_many_claims when too many claims are parked.
  void claim(ClaimRequest request, Answer answer, PeerGone gone = {}) EXCLUDES(mutex_);
  // Adds a task that waits for a runner.
  void offer(const TaskRow& task) EXCLUDES(mutex_);
  void withdraw(const std::string& task) EXCLUDES(mutex_);
  // Why no runner takes a queued task; empty if one will.
  std::string why_waiting(const TaskInfo& spec) const { return roster_.why_waiting(spec); }
  // Answers claims whose time is over or whose runner has gone.
  void tick() EXCLUDES(mutex_);
  // Answers every parked claim with nothing and parks no more (shutdown).
  void stop() EXCLUDES(mutex_);

 private:
  struct Offer {
    std::string agent, runner;
    std::map<std::string, std::string> labels;
  };
  using Key = std::pair<std::int64_t, std::string>;  // created, id: oldest first
  // A claim that is not answered yet.
  struct Asker {
    ClaimRequest request;
    Answer answer;
    PeerGone peer_gone;
    std::int64_t until_ms = 0;  // steady

    bool gone() const { return peer_gone && peer_gone(); }
  };

  static bool suits(const Offer& offer, const ClaimRequest& request);
  void take(Asker asker) EXCLUDES(mutex_);
  void write(std::string task, std::optional<std::pair<Key, Offer>> from, Asker asker) EXCLUDES(mutex_);
  std::deque<Asker> take_parked(const std::function<bool(const Asker&)>& which) REQUIRES(mutex_);
  // The runner that claimed the task has gone before it got the answer: the next claim gets the task. If that cannot be
  // written, the lease's end does the same.
  void give_back(const Claim& claim, const std::string& runner);
  Result<std::optional<Claim>> claim_in(WriteTxn& txn, const std::string& id, const ClaimRequest& request);
  void put_back(Key key, Offer offer) EXCLUDES(mutex_);
  void put(Key key, Offer offer) REQUIRES(mutex_);
  void count() REQUIRES(mutex_);

  Journal& journal_;
  Leases& leases_;
  const Clock& clock_;
  RunnerRoster& roster_;
  Counter& claimed_;
  Gauge& waiting_runners_;
  Gauge& waiting_tasks_;
  mutable Mutex mutex_;
  std::map<Key, Offer> offers_ GUARDED_BY(mutex_);
  std::map<std::string, std::int64_t> created_ GUARDED_BY(mutex_);  // creation time of each offer, by id
  std::deque<Asker> parked_ GUARDED_BY(mutex_);
  bool stopped_ GUARDED_BY(mutex_) = false;
};

}  // namespace shepherd
