// Steering: what carries an operator's word to a running task and keeps track of who runs it. Commands, claims and
// leases, what expires, what is told to others when a task ends. It writes to logs and reads them like any other client
// of the journal; what it knows beside them (clocks, who waits) it finds again at start.
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
#include "steering/watch.h"

namespace shepherd {

// All of it must outlive Steering.
struct SteeringParts {
  Journal& journal;
  Executor* executor;  // sequential: the feed over all logs lives there; nullptr: nothing is watched (tests)
  Executor& workers;   // blocking store reads
  const Clock& clock;
  Random& random;
  MetricRegistry& metrics;
  const Redactor* redactor = nullptr;  // nullptr: commands enter as they are
  PostCallback post_callback = shepherd::post_callback;
};

// open() reads every active task, so it is done before the API accepts posts. Call stop() while workers, journal and
// executor still run, and before the servers drain: it answers the claims that wait. Threads: any; tick() from one.
class Steering {
 public:
  static Result<std::unique_ptr<Steering>> open(SteeringParts parts, SteeringConfig config);
  ~Steering();
  Steering(const Steering&) = delete;
  Steering& operator=(const Steering&) = delete;

  Commands& commands() { return commands_; }
  Claims& claims() { return claims_; }
  Leases& leases() { return leases_; }
  CommandTakers& command_feeds() { return feeds_; }
  Callbacks& callbacks() { return callbacks_; }

  // A repository credential for the runner that has the task, by its lease's epoch, once per lease; or once
  // before the first claim. It always has a time when it expires. gone/task_ended, those of Leases::take_token(),
  // unavailable/no_token_provider, unavailable/token_provider_failed.
  void repo_token(const Task& task, std::optional<std::uint64_t> epoch, Done<RepoToken> done);

  // A task was made: a runner may be waiting for it.
  void created(const Task& task);
  // A task was deleted.
  void deleted(const std::string& task);

  void tick();  // about every kServerTick
  void stop();

 private:
  Steering(SteeringParts parts, SteeringConfig config);
  Result<void> restore();
  void expire_commands_of(std::vector<Task> tasks);
  void look_at(const std::vector<std::string>& tasks, std::move_only_function<void(bool)> done);
  void note(const Task& task);
  void give_token(const TaskSpec& task, std::uint64_t epoch, Done<RepoToken> done);
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
  std::unique_ptr<RepoTokenProvider> token_provider_;  // nullptr: none is configured
  std::unique_ptr<ThreadPool> token_workers_;          // nullptr: the same
  Gauge& leases_held_;
  Counter& lease_losses_;
  Gauge& runners_;
  std::int64_t runners_counted_ms_ = 0;  // tick's
  std::unique_ptr<Watch> watch_;
};

}  // namespace shepherd
