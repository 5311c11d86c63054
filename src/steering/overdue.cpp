#include "steering/overdue.h"

#include <algorithm>
#include <string>

#include "model/task_commands.h"
#include "steering/commands.h"
#include "steering/server_event.h"

namespace shepherd {
namespace {

// What a command is denied by when nobody answered: one for each approval.
std::string deadline_id(const TaskApproval& approval) {
  return "deadline-" + std::to_string(approval.sequence);
}

bool waits_for_deadline(const TaskState& state, const TaskApproval& approval) {
  return approval.expires_ms != 0 && answer_to(state, approval.id) == nullptr &&
         find_command(state, deadline_id(approval)) == nullptr;
}

std::int64_t timeout_ms(const Task& task, std::int64_t grace_seconds) {
  if (task.spec.timeout_seconds == 0 || task.state.started_ms == 0) return kNeverMs;
  return task.state.started_ms + (task.spec.timeout_seconds + grace_seconds) * 1'000;
}

}  // namespace

std::int64_t next_due_ms(const Task& task, std::int64_t grace_seconds) {
  if (is_terminal(task.state.state)) return kNeverMs;
  std::int64_t due_ms = timeout_ms(task, grace_seconds);
  for (const TaskCommand& command : task.state.commands) {
    if (command.state == CommandState::accepted) due_ms = std::min(due_ms, command.expires_ms);
  }
  for (const TaskApproval& approval : task.state.approvals) {
    if (waits_for_deadline(task.state, approval)) due_ms = std::min(due_ms, approval.expires_ms);
  }
  return due_ms;
}

Result<void> settle_overdue(WriteTxn& txn, const std::string& id, bool taken, std::int64_t grace_seconds,
                            std::int64_t now_ms) {
  auto task = txn.task(id);
  if (!task) return fail(task.error());
  if (is_terminal(task->state.state)) return {};
  for (const TaskCommand& command : task->state.commands) {
    // What the agent was given is no longer ours to take back, so only what nobody took expires.
    if (command.state != CommandState::accepted || command.expires_ms > now_ms) continue;
    auto expired =
        txn.append(command_result_event(id, command.id, CommandState::expired, {}, "expired:" + command.id, now_ms));
    if (!expired) return fail(expired.error());
  }
  for (const TaskApproval& approval : task->state.approvals) {
    if (!waits_for_deadline(task->state, approval) || approval.expires_ms > now_ms) continue;
    Command deny;
    deny.id = deadline_id(approval);
    deny.kind = CommandKind::deny;
    deny.approval_id = approval.id;
    deny.message = "nobody answered in time";
    deny.by = "shepherd";
    if (auto denied = append_command(txn, *task, deny, taken, nullptr, now_ms); !denied) return fail(denied.error());
  }
  if (timeout_ms(*task, grace_seconds) > now_ms) return {};
  auto ended = txn.append(status_event(id, State::timed_out, "timed out", {}, "timeout", now_ms));
  if (!ended) return fail(ended.error());
  return {};
}

}  // namespace shepherd
