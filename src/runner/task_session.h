// What a task has from its claim to its last event, whatever its steps do: its events and their way to the server, its
// commands, its lease, its working directory.
//
// Everything goes through the outbox, the terminal status last. A server that is down therefore does not affect the
// agent, and undelivered events are in a spool that the next run or `doctor` delivers.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "client/live_client.h"
#include "net/client.h"
#include "outbox/event_sink.h"
#include "outbox/outbox.h"
#include "process/program_stop.h"
#include "redact/redact.h"
#include "runner/agent_version.h"
#include "runner/command_reader.h"
#include "runner/known_dialects.h"
#include "runner/lease_keeper.h"
#include "runner/limits.h"
#include "runner/step.h"
#include "runner/task_events.h"
#include "runner/task_order.h"
#include "runner/workspace.h"

namespace shepherd {

struct SessionOptions {
  std::vector<std::string> environment;  // NAME=value: the base of every step's
  WorkspaceOptions workspace;            // its environment is set here
  std::string repository_token;
  Observe observe;  // may be empty
  std::string spool_directory;
  RedactOptions redact;
  std::optional<KeptLease> lease;  // nullopt if the task has none
  std::chrono::milliseconds drain = kRunDrain;
};

// Shared by the runs of one process. Threads: value; any for its targets.
struct RunnerParts {
  Locate locate;  // looks up the server again when it is unreachable
  net::ClientTls tls;
  CommandReader* commands = nullptr;
  AgentVersions* versions = nullptr;  // null for no version queries
  const Clock* clock = nullptr;
  KnownDialects* dialects = nullptr;  // null for none
};

// Threads: caller; events() from any.
class TaskSession {
 public:
  // unavailable, storage_full: the spool cannot be created.
  static Result<std::unique_ptr<TaskSession>> create(TaskOrder order, SessionOptions options, RunnerParts shared);
  ~TaskSession();
  TaskSession(const TaskSession&) = delete;
  TaskSession& operator=(const TaskSession&) = delete;

  // From now on commands reach this step, and the loss of the lease and the task's deletion end it. It must live until
  // close().
  void open(Step& step);
  // Delivers what is left, for as long as the options say, and keeps the lease until then.
  Drained close();

  // Blocks; `stop` ends the programs it runs. Errors are those of Workspace::prepare().
  Result<void> prepare_workspace(ProgramStop& stop);
  const std::optional<Workspace>& workspace() const { return workspace_; }
  WorkspaceKind workspace_kind() const { return options_.workspace.kind; }

  const TaskOrder& order() const { return order_; }
  TaskEvents& events() { return *events_; }
  const Clock& clock() const { return *runner_.clock; }
  // The base, the task's id and the credentials of its repository.
  const std::vector<std::string>& environment() const { return options_.environment; }

 private:
  TaskSession(TaskOrder order, SessionOptions options, RunnerParts shared, Redactor redactor);

  // Created in this order and destroyed in reverse.
  const TaskOrder order_;
  SessionOptions options_;
  RunnerParts runner_;
  Redactor redactor_;
  SystemRandom outbox_random_;
  std::unique_ptr<EventSink> sink_;
  std::unique_ptr<Outbox> outbox_;
  std::unique_ptr<TaskEvents> events_;
  std::optional<FollowedCommands> commands_;
  std::optional<Workspace> workspace_;
};

}  // namespace shepherd
