// Accepts commands. One transaction reads the task's state, writes the `command` event and, if the command cannot have
// an effect, its result. The log then carries it to the runner's feed and to all watchers.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/executor.h"
#include "base/random.h"
#include "base/result.h"
#include "journal/journal.h"
#include "model/command.h"
#include "redact/redact.h"
#include "steering/command_takers.h"
#include "steering/server_event.h"
#include "store/lease_fence.h"

namespace shepherd {

struct Submitted {
  std::string id;
  CommandKind kind = CommandKind::steer;
  CommandState state = CommandState::accepted;
  std::string reason;
  std::uint64_t sequence = 0;  // of the `command` event
};
// {"taskID","id","kind","state","sequence"[,"reason"]}
std::string encode_submitted(const std::string& task, const Submitted& submitted);

// The immediate outcome of a command; unsettled if it may go to the agent.
struct CommandOutcome {
  CommandState state = CommandState::accepted;
  std::string reason;
  bool cancels = false;  // a stop of a task that no runner has begun
};
CommandOutcome outcome_of(const TaskRow& task, const Command& command, bool taken);

// Appends a command with its immediate outcome. The task must not be terminal nor have a command with this id. For use
// in a transaction.
Result<Submitted> append_command(WriteTxn& txn, const TaskRow& task, const PreparedCommand& prepared, bool taken,
                                 std::int64_t now_ms);

// Threads: any.
class Commands {
 public:
  // redactor is nullptr if nothing is redacted. All must outlive this and every active submit.
  Commands(Journal& journal, Executor& workers, const Clock& clock, Random& random, const Redactor* redactor)
      : journal_(journal), workers_(workers), clock_(clock), random_(random), redactor_(redactor) {}

  // Generates an id if there is none. The same id with the same content gets the same answer, with other content
  // conflict/command_id_reused. Errors: not_found/unknown_task, conflict/task_ended, conflict/command_id_used (only the
  // id is still stored), invalid_argument/bad_command_id, rate_limited/too_many_commands, and the journal's. Completes
  // after the commit.
  void submit(std::string task, Command command, Done<Submitted> done);

 private:
  Journal& journal_;
  Executor& workers_;  // for reading a command back
  const Clock& clock_;
  Random& random_;
  const Redactor* redactor_;
};

}  // namespace shepherd
