// One task from its claim to its last event, with one step: an agent in the task's working directory.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "outbox/outbox.h"
#include "runner/agent_run.h"
#include "runner/agent_version.h"
#include "runner/known_dialects.h"
#include "runner/task_session.h"
#include "runner/workspace.h"

namespace shepherd {

struct TaskRunOptions : SessionOptions {
  AgentSettings agent;  // directory and rules are set to the workspace's
  std::string remark;   // a note of the runner for the log; empty for none
};

struct TaskOutcome {
  State state = State::failed;
  std::string message;
  EndCause cause = EndCause::none;
  std::optional<WorkResult> work;
  std::string directory;  // its working directory
  std::string pr_url;
  std::optional<double> cost_usd;
  Drained drained;
};

// The base of an agent's environment: this process's, without Shepherd's own credentials.
std::vector<std::string> agent_environment();

// Threads: run() from one, once; the others from any, also before and after it.
class TaskRun {
 public:
  // unavailable, storage_full: the spool cannot be created.
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

  const TaskOrder& order() const { return session_->order(); }

 private:
  TaskRun(TaskRunOptions options, const RunnerParts& shared, std::unique_ptr<TaskSession> session);
  AgentOutcome run_agent();
  AgentOutcome run_service();
  std::string version_of(const AgentSettings& settings);
  void tell_end(const AgentOutcome& outcome, TaskOutcome& told);
  static void tell_undeliverable(TaskOutcome& told);

  const AgentSettings settings_;
  const std::string remark_;
  AgentVersions* const versions_;  // null for no version queries
  KnownDialects* const dialects_;  // null for none
  const std::unique_ptr<TaskSession> session_;
  const std::unique_ptr<AgentRun> agent_;
};

}  // namespace shepherd
