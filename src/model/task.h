// A task: what its creator asked for (TaskSpec) and the state its log has led to (TaskState). A TaskRow is a task
// without the request's payload. Threads: value.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/command.h"

namespace shepherd {

// What lists, updates and followers need of a request. It is small, whatever the request carried.
struct TaskInfo {
  std::string id;  // empty: the server creates one
  std::string namespace_name = "default";
  std::string title;  // PATCH may change it; in a TaskRow never empty
  std::string source_url, source_type, source_id;
  std::string repo_url, repo_ref;
  std::string agent, model, mode, runner;
  std::string callback_url, workflow_id, resume_of;
  std::vector<std::string> callback_events;  // reported in addition to the end: started, progress
  std::int64_t max_turns = 0;                // 0: not given
  std::int64_t timeout_seconds = 0;          // 0: not given
  double budget_usd = 0;                     // 0: not given
  std::map<std::string, std::string> labels;
};

// The content of POST /api/v1/tasks. wire_json encodes and decodes it; the store keeps that JSON. It adds the payload,
// which can be megabytes and which only the runner and the reader of this one task get.
struct TaskSpec : TaskInfo {
  std::string description;  // if the title is empty, its first line is shown instead
  std::string context;
  std::vector<std::string> allowed_tools;
  std::vector<std::string> command;  // argv, for agents that run any command
  std::string mcp_servers_json;      // as given, or empty
};

enum class State : std::uint8_t {
  queued,
  starting,
  running,
  waiting_for_input,
  paused,
  interrupted,
  completed,
  failed,
  timed_out,
  cancelled,
};
std::string_view name(State state);
std::optional<State> state_named(std::string_view name);
bool is_terminal(State state);
// Names for older clients: Pending, Running, Succeeded, Failed, TimedOut, Cancelled.
std::string_view phase(State state);

// Totals over a task's `usage` events. Each event carries the agent's running totals for its session, so the newest
// event of a session replaces the previous one, and the sessions are added up.
struct Usage {
  double cost_usd = 0;
  std::uint64_t input_tokens = 0, output_tokens = 0, cache_read_tokens = 0, cache_write_tokens = 0;
  std::uint64_t api_calls = 0, tool_uses = 0, turns = 0;
  bool unpriced = false;  // the cost of some of it is not known; cost_usd is the rest

  Usage& operator+=(const Usage& part);
};

// The state of a command according to the log. The end of the task settles every command that was not delivered.
struct TaskCommand {
  std::string id;
  CommandKind kind = CommandKind::steer;
  CommandState state = CommandState::accepted;
  std::string by, reason;
  std::string approval_id;      // the approval that it answers, or empty
  std::uint64_t sequence = 0;   // sequence of its `command` event
  std::int64_t expires_ms = 0;  // 0: never, because a runner holds it
};

// A permission or an answer that an agent waits for.
struct TaskApproval {
  std::string id;
  std::string kind, tool, summary;  // kind: permission, question or plan, set by the driver
  std::uint64_t sequence = 0;
  std::int64_t expires_ms = 0;  // 0: waits forever
};

// The fold over a task's log. model/task_fold.h computes it; stores cache it at `last_sequence`.
struct TaskState {
  State state = State::queued;
  bool inferred_end = false;  // the server inferred the end; the producer did not report it
  std::string message;        // newest status message
  std::string activity;       // summary of the newest event that describes what the agent does
  std::string pr_url, error;
  std::string session_id, model;
  Usage usage;
  std::map<std::string, Usage> usage_by_session;  // the totals that `usage` adds up
  std::uint64_t first_sequence = 0;               // oldest event still kept; 0: the log is empty
  std::uint64_t last_sequence = 0;
  std::uint64_t end_sequence = 0;  // sequence of the event that ended the task; 0: still open
  std::uint64_t errors = 0, tool_calls = 0;
  std::int64_t started_ms = 0, last_event_ms = 0, completed_ms = 0;  // receivedAt; 0: not yet
  std::vector<TaskCommand> commands;                                 // newest last; settled ones are removed first
  std::vector<TaskApproval> approvals;                               // only open ones
  std::string capabilities_json;                                     // commands that the agent accepts; empty: unknown
  std::string confined;                                              // none, secrets, workspace; empty: unknown
  std::string runner;                                                // the runner that claimed it; empty: none
  std::uint64_t lease_epoch = 0;                                     // of its lease, the latest one; 0: none
  std::uint64_t claims = 0;                                          // number of claims so far
};

// A task without its payload, as lists, updates, followers and steering use it.
struct TaskRow {
  TaskInfo spec;
  TaskState state;
  std::int64_t created_ms = 0;
};

struct Task {
  TaskSpec spec;
  TaskState state;
  std::int64_t created_ms = 0;
};

}  // namespace shepherd
