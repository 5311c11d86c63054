// Steering: delivers operators' commands to running tasks and tracks who runs them. It covers commands, claims and
// leases, deadlines, and callbacks at a task's end. It writes and reads logs like any other client of the journal and
// rebuilds its other state (clocks, waiting claims) at the start.
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
#include "base/thread_pool.h"
#include "journal/journal.h"
#include "outbound/callbacks.h"
#include "outbound/repo_token.h"
#include "redact/redact.h"
#include "steering/claims.h"
#include "steering/command_takers.h"
#include "steering/commands.h"
#include "steering/due_list.h"
#include "steering/leases.h"
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
  CommandTakers& command_feeds() { return feeds_; }
  Callbacks& callbacks() { return callbacks_; }

  // Returns a repository credential to the runner that has the task, by its lease's epoch, once per lease, or once
  // while the task is unclaimed. The credential always has an expiry time. Errors: gone/task_ended, those of
  // Leases::take_token(), unavailable/no_token_provider, unavailable/token_provider_failed.
  void repo_token(const TaskRow& task, std::optional<std::uint64_t> epoch, Done<RepoToken> done);

  void tick();  // call about every kServerTick
  void stop();

 private:
  Steering(SteeringParts parts, SteeringConfig config);
  Result<void> restore();
  void expire_commands_of(std::vector<TaskRow> tasks);
  void take(const News& news, std::move_only_function<void(bool)> done);
  void forget(const std::string& task);
  void note(const TaskRow& task);
  void give_token(const TaskInfo& task, std::uint64_t epoch, Done<RepoToken> done);
  void forget_token(const std::string& task);
  void settle(const std::string& task);
  void lose(const LostLease& lost);
  void count_runners();

  SteeringParts parts_;
  SteeringConfig config_;
  Leases leases_;
  CommandTakers feeds_;
  Commands commands_;
  Claims claims_;
  DueList due_;
  Callbacks callbacks_;
  std::unique_ptr<RepoTokenProvider> token_provider_;  // nullptr if none is configured
  std::unique_ptr<ThreadPool> token_workers_;          // nullptr if no provider is configured
  Gauge& leases_held_;
  Counter& lease_losses_;
  Gauge& runners_;
  std::int64_t runners_counted_ms_ = 0;  // owned by tick()
  std::unique_ptr<Follower> follower_;
};

}  // namespace shepherd
