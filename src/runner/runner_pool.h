// A runner of many tasks: slots that claim work from a server, one task each, until end().
//
// `serve --runners N` has one in its own process, and `shepherd runner` is one. A task with a repository gets a clone
// of it; a task without gets an empty directory.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/random.h"
#include "outbox/spool_courier.h"
#include "runner/command_reader.h"
#include "runner/lease_keeper.h"
#include "runner/task_run.h"

namespace shepherd {

struct PoolOptions {
  std::string runner;               // id; generated if empty
  std::size_t slots = 1;            // tasks at once
  bool claims = true;               // false to run only assigned tasks
  std::vector<std::string> agents;  // the agents it can run; the first one runs assigned tasks without an agent
  std::map<std::string, std::string> labels;
  std::string version, machine;  // of this program, and where it runs; for people
  std::string data_directory;    // for workspaces and spools
  RedactOptions redact;
  std::string rules;  // for every agent: a file or directory (rules.h); empty for none
  // Returns the settings of an agent by its name.
  std::function<AgentSettings(const std::string& agent)> settings;
};

// Threads: any.
class RunnerPool {
 public:
  // Starts its threads. The server may start later.
  RunnerPool(PoolOptions options, Locate locate, net::ClientTls tls, const Clock& clock);
  // Calls end(), then waits until all tasks have ended and were reported.
  ~RunnerPool();
  RunnerPool(const RunnerPool&) = delete;
  RunnerPool& operator=(const RunnerPool&) = delete;

  // Claims no more tasks and stops the running ones.
  void end(const std::string& why) EXCLUDES(mutex_);
  // Runs this task if a slot is free; otherwise conflict/busy. invalid_argument/unknown_agent, before the claim, if it
  // names another agent than ours; or the server's answer to the claim. A task that this runner already has is not run
  // again, which is no error.
  Result<void> assign(const std::string& task) EXCLUDES(mutex_);

  std::size_t running() const EXCLUDES(mutex_);
  const std::string& runner() const { return options_.runner; }

 private:
  // Runs one task at a time. The pool's lock guards its state.
  struct Slot {
    Slot(const Locate& locate, const net::ClientTls& tls) : claims(locate, tls), api(locate, tls) {}
    RunnerApi claims, api;  // for its claims, and for one task; cancelled at the end
    bool asking = false;    // waits for a claim
    bool reserved = false;  // for a task that is being assigned
    bool running = false;
    std::optional<KeptLease> assigned;
  };

  void work(Slot& slot) EXCLUDES(mutex_);
  std::optional<KeptLease> next(Slot& slot) EXCLUDES(mutex_);
  std::optional<KeptLease> ask(Slot& slot) EXCLUDES(mutex_);
  Slot* reserve() EXCLUDES(mutex_);
  void run(Slot& slot, KeptLease lease) EXCLUDES(mutex_);
  Result<std::unique_ptr<TaskRun>> prepare(RunnerApi& api, KeptLease lease);
  Result<void> knows_agent_of(RunnerApi& api, const std::string& task) const;
  void tell_failure(const TaskClaim& claim, const Error& error) EXCLUDES(mutex_);

  const PoolOptions options_;
  const Locate locate_;
  const net::ClientTls tls_;
  const Clock& clock_;
  SystemRandom random_;
  LeaseKeeper leases_;
  CommandReader commands_;
  AgentVersions versions_;
  KnownDialects dialects_;
  SpoolCourier courier_;

  mutable Mutex mutex_;
  CondVar changed_;
  bool ending_ GUARDED_BY(mutex_) = false;
  std::set<std::string> tasks_ GUARDED_BY(mutex_);  // that a slot has or is about to have
  std::map<std::string, TaskRun*> runs_ GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<std::thread> threads_;
};

}  // namespace shepherd
