// The runner inside `shepherd run`: makes tasks on the server and runs them here, each on a thread of its caller.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "cli/context.h"
#include "cli/run_request.h"
#include "config/config.h"
#include "host/run_host.h"
#include "outbox/spool.h"
#include "runner/lease_keeper.h"
#include "runner/task_run.h"

namespace shepherd {

// How a run's outcome leaves the program.
ExitCode exit_code_of(State state);

// What the agents of this configuration are started with: program and output format by the agent's name.
AgentSettings agent_settings(const Config& config, const std::string& agent);

// What became of what earlier runs and hooks left behind.
struct PendingDelivered {
  std::uint64_t events = 0;            // and calls of hooks
  std::vector<std::string> set_aside;  // spools of tasks that were deleted
};

// Threads: any.
class LocalRunner {
 public:
  // All must outlive it.
  LocalRunner(const Config& config, const RunHost& host, net::ClientTls tls);

  // Makes the task, claims it and prepares its run; TaskRun::run() does the rest. A task to go on with (its id, a
  // unique prefix of it, or -) is looked at first: without a conversation nothing is made. `observe` sees every event
  // of the agent before it is delivered; it must be quick.
  Result<std::unique_ptr<TaskRun>> start(const RunRequest& request, Observe observe = {});
  // Says to the server what an operator at this terminal asks; to the agent itself when the server is away.
  void command(TaskRun& run, Command command);
  // Delivers the spools and what hooks left behind, until it is told to stop.
  PendingDelivered deliver_pending(const std::vector<PendingSpool>& spools, const std::stop_token& stop);

  std::string spool_directory() const { return config_.data + "/spool"; }

 private:
  Result<TaskOrder> create(ApiClient& api, const RunRequest& request);
  static Result<RunRequest> resolved(ApiClient& api, const RunRequest& request);
  Result<std::unique_ptr<TaskRun>> prepare(RunnerApi& server, const RunRequest& request, TaskOrder order,
                                           TaskRunOptions options, Observe observe);

  const Config& config_;
  Locate locate_;
  net::ClientTls tls_;
  SystemClock clock_;
  SystemRandom random_;
  std::string runner_;
  LeaseKeeper leases_;
  AgentVersions versions_;
};

}  // namespace shepherd
