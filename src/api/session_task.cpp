#include "api/session_task.h"

#include <charconv>
#include <utility>

#include "api/limits.h"

namespace shepherd {
namespace {

constexpr const char* kSessionRecords = "hook_session";  // AGENT-SESSION -> number of its newest task

std::string task_id(const AgentSession& session, int number) {
  return session.agent + "-" + session.id + (number == 1 ? "" : "-" + std::to_string(number));
}

int number_in(const std::string& text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Looks at the tasks from this number on, up to the first that is active or missing.
Result<void> look_from(WriteTxn& txn, const AgentSession& session, int first, SessionTask& found) {
  for (int number = first; number <= kMaxSessionTasks; ++number) {
    found.free_id = task_id(session, number);
    Result<TaskRow> task = txn.row(found.free_id);
    if (!task && task.error().code == ErrorCode::not_found) return {};
    if (!task) return fail(task.error());
    found.current = *std::move(task);
    found.number = number;
    if (!is_terminal(found.current->state.state)) return {};
  }
  return fail(ErrorCode::conflict, "too_many_tasks",
              "This session has opened " + std::to_string(kMaxSessionTasks) + " tasks; it gets no more.");
}

}  // namespace

Result<SessionTask> find_session_task(WriteTxn& txn, const AgentSession& session) {
  Result<std::string> kept = txn.record(kSessionRecords, task_id(session, 1));
  if (!kept) return fail(kept.error());
  SessionTask found;
  found.kept = *std::move(kept);
  int recorded = number_in(found.kept);
  if (recorded > 1) {
    if (Result<void> looked = look_from(txn, session, recorded, found); !looked) return fail(looked.error());
    if (found.current) return found;
  }
  if (Result<void> looked = look_from(txn, session, 1, found); !looked) return fail(looked.error());
  return found;
}

Result<void> keep_session_task(WriteTxn& txn, const AgentSession& session, const SessionTask& found) {
  // Most sessions are never resumed, and their only task is found without a record.
  std::string value = found.number > 1 ? std::to_string(found.number) : "";
  if (value == found.kept) return {};
  return txn.replace_record(kSessionRecords, task_id(session, 1), found.kept, value);
}

}  // namespace shepherd
