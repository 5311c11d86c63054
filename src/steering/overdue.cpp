#include "steering/overdue.h"

#include <algorithm>
#include <string>

#include "base/assert.h"
#include "model/task_commands.h"
#include "model/task_source.h"
#include "steering/commands.h"
#include "steering/server_event.h"

namespace shepherd {
namespace {

// The id of the command that denies an approval at its deadline, one for each approval.
std::string deadline_id(const TaskApproval& approval) {
  return "deadline-" + std::to_string(approval.sequence);
}

bool waits_for_deadline(const TaskState& state, const TaskApproval& approval) {
  return approval.expires_ms != 0 && answer_to(state, approval.id) == nullptr &&
         find_command(state, deadline_id(approval)) == nullptr;
}

std::int64_t timeout_ms(const TaskRow& task, const SteeringConfig& config) {
  if (task.spec.timeout_seconds == 0 || task.state.started_ms == 0) return kNeverMs;
  return task.state.started_ms + (task.spec.timeout_seconds + config.timeout_grace_seconds) * 1'000;
}

// A session known only by its hooks reports its end only if it is not killed, and telemetry reports none. A runner's
// task has a lease instead.
std::int64_t session_idle_ms(const TaskRow& task, const SteeringConfig& config) {
  auto source = task.spec.labels.find(kSourceLabel);
  bool reported =
      source != task.spec.labels.end() && (source->second == kHookSource || source->second == kTelemetrySource);
  if (!reported || task.state.lease_epoch != 0 || config.session_idle_seconds == 0) return kNeverMs;
  return std::max(task.created_ms, task.state.last_event_ms) + config.session_idle_seconds * 1'000;
}

bool is_expired(const TaskCommand& command, std::int64_t now_ms) {
  // A command that a runner or the agent has cannot be taken back, so only untaken commands expire.
  return command.state == CommandState::accepted && command.expires_ms != 0 && command.expires_ms <= now_ms;
}

// Denies an unanswered approval. Without a runner no agent receives the denial, but the approval still closes;
// otherwise it would wait in the inbox forever.
Result<void> settle_approval(WriteTxn& txn, const TaskRow& task, const TaskApproval& approval, bool taken,
                             std::int64_t now_ms) {
  constexpr const char* kWhy = "no operator answered in time";
  const TaskCommand* answer = answer_to(task.state, approval.id);
  if (answer != nullptr && !is_expired(*answer, now_ms)) return {};
  if (!taken || find_command(task.state, deadline_id(approval)) != nullptr) {
    auto expired = txn.append(approval_expired_event(task.spec.id, approval.id, kWhy,
                                                     "approval-expired:" + std::to_string(approval.sequence), now_ms));
    if (!expired) return fail(expired.error());
    return {};
  }
  SHEPHERD_ASSERT(answer == nullptr || is_expired(*answer, now_ms), "an approval that is answered is not denied");
  Command deny;
  deny.id = deadline_id(approval);
  deny.kind = CommandKind::deny;
  deny.approval_id = approval.id;
  deny.message = kWhy;
  deny.by = "shepherd";
  auto prepared = prepare_command(task.spec.id, std::move(deny), nullptr, now_ms);
  if (!prepared) return fail(prepared.error());
  auto appended = append_command(txn, task, *prepared, taken, now_ms);
  if (!appended) return fail(appended.error());
  return {};
}

// A session that waited for a person at the end of a turn has completed; in the middle of a turn it has failed.
Result<void> end_session(WriteTxn& txn, const TaskRow& task, std::int64_t idle_seconds, std::int64_t now_ms) {
  bool done = task.state.state == State::waiting_for_input;
  std::string message = (done ? "session over: " : "session lost: ") + std::string("it reported nothing for ") +
                        std::to_string(idle_seconds) + " s";
  auto ended = txn.append(
      status_event(task.spec.id, done ? State::completed : State::failed, message, {}, "session-idle", now_ms));
  if (!ended) return fail(ended.error());
  return {};
}

}  // namespace

std::int64_t next_due_ms(const TaskRow& task, const SteeringConfig& config) {
  if (is_terminal(task.state.state)) return kNeverMs;
  std::int64_t due_ms = std::min(timeout_ms(task, config), session_idle_ms(task, config));
  for (const TaskCommand& command : task.state.commands) {
    bool may_expire = command.state == CommandState::accepted && command.expires_ms != 0;
    if (may_expire) due_ms = std::min(due_ms, command.expires_ms);
  }
  for (const TaskApproval& approval : task.state.approvals) {
    if (waits_for_deadline(task.state, approval)) due_ms = std::min(due_ms, approval.expires_ms);
  }
  return due_ms;
}

bool has_expired_command(const TaskRow& task, std::int64_t now_ms) {
  return std::ranges::any_of(task.state.commands, [&](const TaskCommand& each) { return is_expired(each, now_ms); });
}

Result<void> expire_commands(WriteTxn& txn, const TaskRow& task, std::int64_t now_ms) {
  for (const TaskCommand& command : task.state.commands) {
    if (!is_expired(command, now_ms)) continue;
    auto expired = txn.append(
        command_result_event(task.spec.id, command.id, CommandState::expired, {}, "expired:" + command.id, now_ms));
    if (!expired) return fail(expired.error());
  }
  return {};
}

Result<void> settle_overdue(WriteTxn& txn, const std::string& id, const SteeringConfig& config, std::int64_t now_ms) {
  auto task = txn.row(id);
  if (!task) return fail(task.error());
  if (is_terminal(task->state.state)) return {};
  if (auto expired = expire_commands(txn, *task, now_ms); !expired) return expired;
  for (const TaskApproval& approval : task->state.approvals) {
    if (approval.expires_ms == 0 || approval.expires_ms > now_ms) continue;
    auto taken = has_taker(txn, *task);
    if (!taken) return fail(std::move(taken.error()));
    if (auto settled = settle_approval(txn, *task, approval, *taken, now_ms); !settled) return settled;
  }
  if (timeout_ms(*task, config) <= now_ms) {
    auto ended = txn.append(status_event(id, State::timed_out, "timed out", {}, "timeout", now_ms));
    if (!ended) return fail(ended.error());
    return {};
  }
  if (session_idle_ms(*task, config) > now_ms) return {};
  return end_session(txn, *task, config.session_idle_seconds, now_ms);
}

}  // namespace shepherd
