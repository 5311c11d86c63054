// The runner inside `shepherd run`: creates tasks on the server and runs each on a thread of its caller.
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
#include "runner/command_reader.h"
#include "runner/lease_keeper.h"
#include "runner/task_run.h"

namespace shepherd {

// The program's exit code for a run's outcome.
ExitCode exit_code_of(State state);

// The name of this machine; empty if it has none.
std::string machine_name();

// Program and output format of this configuration for an agent.
AgentSettings agent_settings(const Config& config, const std::string& agent);

// The result of delivering what earlier runs and hooks left behind.
struct PendingDelivered {
  std::uint64_t events = 0;            // including hook calls
  std::vector<std::string> set_aside;  // spools of deleted tasks
};

// Threads: any.
class LocalRunner {
 public:
  // The arguments must outlive it.
  LocalRunner(const Config& config, const RunHost& host, net::ClientTls tls);

  // Creates the task, claims it and prepares its run; TaskRun::run() does the rest. A task to resume (its id, a unique
  // prefix, or -) is checked first: without a conversation, no task is created. `observe` sees every event of the agent
  // before delivery and must be quick.
  Result<std::unique_ptr<TaskRun>> start(const RunRequest& request, Observe observe = {});
  // Sends a command from this terminal to the server, or directly to the agent if the server is unreachable.
  void command(TaskRun& run, Command command);
  // Delivers the spools and what hooks left behind, until `stop` is requested.
  PendingDelivered deliver_pending(const std::vector<PendingSpool>& spools, const std::stop_token& stop);

  std::string spool_directory() const { return config_.data + "/spool"; }

 private:
  Result<TaskOrder> create(ApiClient& api, const RunRequest& request);
  Result<RunRequest> resolved(ApiClient& api, const RunRequest& request);
  Result<std::unique_ptr<TaskRun>> prepare(RunnerApi& server, const RunRequest& request, TaskOrder order,
                                           TaskRunOptions options, Observe observe);

  const Config& config_;
  Locate locate_;
  net::ClientTls tls_;
  SystemClock clock_;
  SystemRandom random_;
  const std::string runner_;
  LeaseKeeper leases_;
  CommandReader commands_;
  AgentVersions versions_;
  KnownDialects dialects_;
};

}  // namespace shepherd
