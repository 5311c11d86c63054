// Commands in: one transaction looks at the task as it is, writes the `command` event, and, where nothing can come of
// it, what became of it. From there on the log carries it: to the runner by its feed, and to every watcher.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "journal/journal.h"
#include "model/command.h"
#include "redact/redact.h"
#include "steering/command_takers.h"
#include "steering/leases.h"

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

// Whether a runner would take a command to this task's agent.
// Threads: any.
struct Takers {
  const Leases& leases;
  const CommandTakers& feeds;
  bool any(const std::string& task) const { return leases.held(task) || feeds.any(task); }
};

// What a command meets in the task: unsettled when it may go to the agent.
struct Fate {
  CommandState state = CommandState::accepted;
  std::string reason;
  bool cancels = false;  // a stop of a task that has not begun
};
Fate outcome_of(const Task& task, const Command& command, bool taken);

// Appends a command with what it meets; the task is not terminal and does not know its id. For use in a transaction.
Result<Submitted> append_command(WriteTxn& txn, const Task& task, const Command& command, bool taken,
                                 const Redactor* redactor, std::int64_t now_ms);

// Threads: any.
class Commands {
 public:
  // redactor: nullptr when nothing is redacted. All must outlive this and every submit under way.
  Commands(Journal& journal, Takers takers, const Clock& clock, Random& random, const Redactor* redactor)
      : journal_(journal), takers_(takers), clock_(clock), random_(random), redactor_(redactor) {}

  // Without an id one is made. The same id again gets the same answer, with other words conflict/command_id_reused.
  // Errors: not_found/unknown_task, conflict/task_ended, conflict/command_id_used (so long ago that only its id is
  // known), invalid_argument/bad_command_id, rate_limited/too_many_commands, and the journal's. Completes after the
  // commit.
  void submit(std::string task, Command command, Done<Submitted> done);

 private:
  Journal& journal_;
  Takers takers_;
  const Clock& clock_;
  Random& random_;
  const Redactor* redactor_;
};

}  // namespace shepherd
