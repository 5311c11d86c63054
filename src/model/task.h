// A task as its creator asked for it (TaskSpec) and as its log has made it since (TaskState).
// Threads: value.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/command.h"

namespace shepherd {

// What POST /api/v1/tasks takes. wire_json encodes and decodes it; the store keeps that JSON.
struct TaskSpec {
  std::string id;  // empty: the server makes one
  std::string namespace_name = "default";
  std::string title;  // PATCH may change it; empty: the description's first line is shown
  std::string description;
  std::string context;
  std::string source_url, source_type, source_id;
  std::string repo_url, repo_ref;
  std::string agent, model, mode, runner;
  std::string callback_url, workflow_id, resume_of;
  std::vector<std::string> callback_events;  // told beside the end: started, progress
  std::int64_t max_turns = 0;                // 0: not given
  std::int64_t timeout_seconds = 0;          // 0: not given
  double budget_usd = 0;                     // 0: not given
  std::vector<std::string> allowed_tools;
  std::vector<std::string> command;  // for agents that run any command: its argv
  std::string mcp_servers_json;      // as given; empty: none
  std::map<std::string, std::string> labels;
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
std::string_view phase(State state);  // Pending, Running, Succeeded, Failed, TimedOut, Cancelled (older clients)

// Totals over a task's `usage` events. Each event's costUSD and tokens are the agent's own running totals for its
// session, so the newest of a session replaces the one before, and sessions add up.
struct Usage {
  double cost_usd = 0;
  std::uint64_t input_tokens = 0, output_tokens = 0, cache_read_tokens = 0, cache_write_tokens = 0;
  std::uint64_t api_calls = 0, tool_uses = 0, turns = 0;

  Usage& operator+=(const Usage& part);
};

// A command as the log tells its story. The end of the task settles what was not delivered until then.
struct TaskCommand {
  std::string id;
  CommandKind kind = CommandKind::steer;
  CommandState state = CommandState::accepted;
  std::string by, reason;
  std::string approval_id;      // what it answers; empty: nothing
  std::uint64_t sequence = 0;   // of its `command` event
  std::int64_t expires_ms = 0;  // 0: never, a runner holds it
};

// What an agent waits to be allowed or told.
struct TaskApproval {
  std::string id;
  std::string kind, tool, summary;  // kind: permission, question, plan, as the driver says
  std::uint64_t sequence = 0;
  std::int64_t expires_ms = 0;  // 0: waits for ever
};

// The fold over a task's log: model/task_fold.h computes it, stores cache it at `last_sequence`.
struct TaskState {
  State state = State::queued;
  bool inferred_end = false;  // the server, not the producer, said that it ended
  std::string message;        // newest status message
  std::string activity;       // summary of the newest event that says what the agent does
  std::string pr_url, error;
  std::string session_id, model;
  Usage usage;
  std::map<std::string, Usage> usage_by_session;  // what `usage` adds up
  std::uint64_t first_sequence = 0;               // oldest event still kept; 0: the log is empty
  std::uint64_t last_sequence = 0;
  std::uint64_t end_sequence = 0;  // of the event that ended it; 0: none has
  std::uint64_t errors = 0, tool_calls = 0;
  std::int64_t started_ms = 0, last_event_ms = 0, completed_ms = 0;  // receivedAt; 0: not yet
  std::vector<TaskCommand> commands;                                 // newest last; settled ones go first
  std::vector<TaskApproval> approvals;                               // open ones
  std::string capabilities_json;                                     // what may be asked of its agent; empty: not known
  std::string confined;                                              // none, secrets, workspace; empty: nobody said
  std::string runner;                                                // who claimed it; empty: nobody
  std::uint64_t lease_epoch = 0;                                     // number of the event that says so; 0: nobody
  std::uint64_t claims = 0;                                          // how often it was claimed
};

struct Task {
  TaskSpec spec;
  TaskState state;
  std::int64_t created_ms = 0;
};

}  // namespace shepherd
