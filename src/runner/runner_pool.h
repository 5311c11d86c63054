// A runner of many tasks: slots that claim work from a server, one task each, until it is told to end.
//
// `serve --runners N` keeps one in its own process, `shepherd runner` is one. A task with a repository gets a clone of
// it, one without gets an empty directory of its own.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/random.h"
#include "runner/lease_keeper.h"
#include "runner/task_run.h"

namespace shepherd {

struct PoolOptions {
  std::string runner;               // id; empty: one is made
  std::size_t slots = 1;            // tasks at once
  bool claims = true;               // false: only what is assigned is run
  std::vector<std::string> agents;  // what it can run
  std::map<std::string, std::string> labels;
  std::string data_directory;  // workspaces and spools
  RedactOptions redact;
  std::string rules;  // for every agent: a file or directory (rules.h); empty: none
  // How an agent is started, by its name.
  std::function<AgentSettings(const std::string& agent)> settings;
};

// Threads: any.
class RunnerPool {
 public:
  // Starts its threads. The server may come later.
  RunnerPool(PoolOptions options, Locate locate, net::ClientTls tls, const Clock& clock);
  // end(), then waits for the tasks to be ended and told.
  ~RunnerPool();
  RunnerPool(const RunnerPool&) = delete;
  RunnerPool& operator=(const RunnerPool&) = delete;

  // Claims no more and stops what runs.
  void end(const std::string& why) EXCLUDES(mutex_);
  // Runs this task when a slot is free: conflict/busy otherwise; invalid_argument/unknown_agent, before it is claimed,
  // when its agent is none of ours; or the server's answer to the claim.
  Result<void> assign(const std::string& task) EXCLUDES(mutex_);

  std::size_t running() const EXCLUDES(mutex_);
  const std::string& runner() const { return options_.runner; }

 private:
  void work(RunnerApi& claims) EXCLUDES(mutex_);
  bool claim_next(RunnerApi& claims, RunnerApi& api) EXCLUDES(mutex_);
  void run(RunnerApi& api, const TaskClaim& claim) EXCLUDES(mutex_);
  Result<std::unique_ptr<TaskRun>> prepare(RunnerApi& api, const TaskClaim& claim);
  Result<void> knows_agent_of(RunnerApi& api, const std::string& task) const;
  void tell_failure(const TaskClaim& claim, const Error& error);
  bool pause() EXCLUDES(mutex_);  // false: ending

  const PoolOptions options_;
  const Locate locate_;
  const net::ClientTls tls_;
  const Clock& clock_;
  LeaseKeeper leases_;
  AgentVersions versions_;

  mutable Mutex mutex_;
  CondVar changed_;
  bool ending_ GUARDED_BY(mutex_) = false;
  std::size_t busy_ GUARDED_BY(mutex_) = 0;  // slots with a task, or about to have one
  std::map<std::string, TaskRun*> runs_ GUARDED_BY(mutex_);
  std::vector<TaskClaim> assigned_ GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<RunnerApi>> claims_;  // one a slot, for its questions; cancelled at the end
  std::vector<std::thread> threads_;
};

}  // namespace shepherd
