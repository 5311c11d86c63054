// Steering: delivers operators' commands to running tasks and tracks who runs them. It covers commands, claims and
// leases, deadlines, and callbacks at a task's end. It writes and reads logs like any other client of the journal and
// rebuilds its other state (what waits and until when) at the start.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/executor.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/result.h"
#include "journal/journal.h"
#include "outbound/callbacks.h"
#include "redact/redact.h"
#include "steering/claims.h"
#include "steering/command_takers.h"
#include "steering/commands.h"
#include "steering/due_list.h"
#include "steering/lease_rounds.h"
#include "steering/leases.h"
#include "steering/repo_tokens.h"
#include "steering/runner_roster.h"
#include "steering/service_clock.h"
#include "steering/steering_config.h"

namespace shepherd {

// All of these must outlive Steering.
struct SteeringParts {
  Journal& journal;
  Executor& workers;  // for following changes and for blocking store reads
  const Clock& clock;
  Random& random;
  MetricRegistry& metrics;
  const Redactor* redactor = nullptr;  // nullptr stores commands unredacted
  CallbackPoster* poster = nullptr;    // nullptr sends no callbacks
};

// open() reads every active task, so call it before any client may post. Call stop() while workers and journal still
// run, and before the servers drain: it answers the waiting claims. Threads: any; tick() from one.
class Steering {
 public:
  static Result<std::unique_ptr<Steering>> open(SteeringParts parts, SteeringConfig config);
  ~Steering();
  Steering(const Steering&) = delete;
  Steering& operator=(const Steering&) = delete;

  Commands& commands() { return commands_; }
  Claims& claims() { return claims_; }
  // Claims::claim() once steering has seen everything that is committed now: a task whose creation was answered is
  // found.
  void claim(ClaimRequest request, Claims::Answer answer, Claims::PeerGone gone = {});
  Leases& leases() { return leases_; }
  CommandTakers& command_takers() { return takers_; }
  RunnerRoster& runners() { return roster_; }
  Callbacks& callbacks() { return callbacks_; }

  RepoTokens& repo_tokens() { return tokens_; }

  void tick();  // call about every kServerTick
  void stop();

 private:
  Steering(SteeringParts parts, SteeringConfig config);
  Result<void> restore();
  void put_right(std::vector<TaskRow> tasks);
  void drop_takers();
  void take(const News& news, std::move_only_function<void(bool)> done);
  void forget(const std::string& task);
  void note(const TaskRow& task);
  void settle(const std::string& task);
  void take(const LeaseRound& round);
  Result<void> read_runners(const News& news);
  void count_runners();

  SteeringParts parts_;
  SteeringConfig config_;
  ServiceClock service_;
  LeaseRounds rounds_;
  Leases leases_;
  CommandTakers takers_;
  RunnerRoster roster_;
  Commands commands_;
  Claims claims_;
  DueList due_;
  Callbacks callbacks_;
  RepoTokens tokens_;
  Gauge& leases_held_;
  Counter& lease_losses_;
  Gauge& runners_;
  std::int64_t runners_counted_ms_ = 0;  // owned by tick()
  std::unique_ptr<Follower> follower_;
};

}  // namespace shepherd
