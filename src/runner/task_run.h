// One task from its claim to its last event: the place to work in, the agent, its commands, what it leaves.
//
// Everything that happens goes through the outbox, the terminal status last. So a server that is away changes nothing
// for the agent, and what could not be delivered in the end is in a spool that the next run or `doctor` delivers.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "client/live_client.h"
#include "net/client.h"
#include "outbox/event_sink.h"
#include "outbox/outbox.h"
#include "redact/redact.h"
#include "runner/agent_run.h"
#include "runner/agent_version.h"
#include "runner/command_follower.h"
#include "runner/lease_keeper.h"
#include "runner/limits.h"
#include "runner/task_events.h"
#include "runner/workspace.h"

namespace shepherd {

struct TaskRunOptions {
  AgentSettings agent;         // its directory is the workspace's; its environment is what the agent's grows from
  WorkspaceOptions workspace;  // its environment too is made here
  std::string repository_token;
  Observe observe;  // may be empty
  std::string spool_directory;
  RedactOptions redact;
  std::optional<KeptLease> lease;  // nullopt: the task has none
  std::string remark;              // of the runner about this run, for its log; empty: none
  std::chrono::milliseconds drain = kRunDrain;
};

struct TaskOutcome {
  State state = State::failed;
  std::string message;
  EndCause cause = EndCause::none;
  std::optional<WorkResult> work;
  std::string directory;  // where it worked
  std::string pr_url;
  std::optional<double> cost_usd;
  Drained drained;
};

// What the runs of one process share. Threads: value; what it points to is for any.
struct RunnerParts {
  Locate locate;  // the server; asked again when it cannot be reached
  net::ClientTls tls;
  AgentVersions* versions = nullptr;  // null: versions are not asked for
  const Clock* clock = nullptr;
};

// The environment an agent's grows from: this process's without Shepherd's own credentials.
std::vector<std::string> agent_environment();

// Threads: run() from one, once; the others from any, before and after it too.
class TaskRun {
 public:
  // unavailable, storage_full: the spool cannot be made.
  static Result<std::unique_ptr<TaskRun>> create(TaskOrder order, TaskRunOptions options, RunnerParts shared);
  ~TaskRun();
  TaskRun(const TaskRun&) = delete;
  TaskRun& operator=(const TaskRun&) = delete;

  // Blocks until the server has everything, or the time for that is over.
  TaskOutcome run();

  void command(const Command& command) { agent_->command(command); }
  void end(EndCause cause, std::string message) { agent_->end(cause, std::move(message)); }
  void kill() { agent_->kill(); }
  bool can(CommandKind kind) const { return agent_->can(kind); }

  const TaskOrder& order() const { return order_; }

 private:
  TaskRun(TaskOrder order, TaskRunOptions options, RunnerParts shared, Redactor redactor);
  AgentOutcome run_agent();
  std::string version_of(const AgentSettings& settings);
  void tell_end(const AgentOutcome& outcome, TaskOutcome& told);
  static void tell_undeliverable(TaskOutcome& told);

  // In the order in which they are made; they are destroyed the other way round.
  const TaskOrder order_;
  TaskRunOptions options_;
  RunnerParts runner_;
  Redactor redactor_;
  SystemRandom outbox_random_, feed_random_;
  std::unique_ptr<EventSink> sink_;
  std::unique_ptr<Outbox> outbox_;
  std::unique_ptr<TaskEvents> events_;
  std::unique_ptr<AgentRun> agent_;
  std::unique_ptr<CommandFollower> feed_;
  std::optional<Workspace> workspace_;
};

}  // namespace shepherd
