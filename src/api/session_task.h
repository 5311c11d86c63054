// Finds the task of a person's own agent session. Its tasks are AGENT-SESSION, AGENT-SESSION-2, …, one more each time
// it is resumed after its task ended. A record per resumed session has the newest number, so that a call looks at two
// tasks and not at all of them. Threads: caller.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "model/task.h"
#include "store/event_store.h"

namespace shepherd {

struct AgentSession {
  std::string agent, id;
};

struct SessionTask {
  std::optional<TaskRow> current;  // the newest task of the session
  int number = 0;                  // of that task; 0: there is none
  std::string free_id;             // for the next one
  std::string kept;                // the record as it was read
};

// Looks at the recorded task and those after it, which an import may have added. Without a record, or if its task was
// deleted, it looks at all of them once. conflict/too_many_tasks if the session may have no other task.
Result<SessionTask> find_session_task(WriteTxn& txn, const AgentSession& session);

// Records `found.number` if that is not what the record says.
Result<void> keep_session_task(WriteTxn& txn, const AgentSession& session, const SessionTask& found);

}  // namespace shepherd
