#include "model/task_commands.h"

#include <algorithm>

#include "base/clock.h"
#include "json/scan.h"
#include "model/limits.h"
#include "model/task_fold.h"

namespace shepherd {
namespace {

bool is_settled(CommandState state) {
  return state != CommandState::accepted && state != CommandState::delivered;
}

// Whether a compact JSON array of capability names contains this kind.
bool lists(std::string_view capabilities, std::string_view key, CommandKind kind) {
  std::string quoted = "\"" + std::string(name(kind)) + "\"";
  return find_member(capabilities, key).find(quoted) != std::string_view::npos;
}

void drop_settled(TaskState& state) {
  while (state.commands.size() > kMaxTaskCommands) {
    auto oldest = std::ranges::find_if(state.commands, [&](const TaskCommand& each) { return !is_open(state, each); });
    if (oldest == state.commands.end()) return;
    state.commands.erase(oldest);
  }
}

}  // namespace

void fold_command(TaskState& state, const FoldEvent& event) {
  std::string_view data = find_member(event.body, "data");
  TaskCommand command;
  command.id = text_member(data, "id");
  auto kind = command_kind(text_member(data, "kind"));
  if (command.id.empty() || !kind || find_command(state, command.id) != nullptr) return;
  command.kind = *kind;
  command.by = text_member(data, "by");
  command.approval_id = text_member(data, "approvalID");
  command.sequence = event.sequence;
  auto seconds = count_value(find_member(data, "expiresSeconds")).value_or(kCommandExpirySeconds);
  command.expires_ms =
      event.received_ms +
      static_cast<std::int64_t>(std::min(seconds, static_cast<std::uint64_t>(kMaxCommandExpirySeconds))) * 1'000;
  state.commands.push_back(std::move(command));
  drop_settled(state);
}

void fold_command_result(TaskState& state, const FoldEvent& event) {
  std::string_view data = find_member(event.body, "data");
  std::string id = text_member(data, "id");
  auto next = command_state(text_member(data, "state"));
  auto found = std::ranges::find(state.commands, id, &TaskCommand::id);
  if (!next || found == state.commands.end()) return;
  // The runner took the command and holds it for later, so it can no longer expire.
  bool held = *next == CommandState::accepted && found->state == CommandState::accepted;
  if (held) found->expires_ms = 0;
  if (is_settled(found->state) || (*next <= found->state && !held)) return;  // never back to an earlier state
  found->state = *next;
  found->reason = text_member(data, "reason");
}

void fold_approval(TaskState& state, const FoldEvent& event) {
  std::string_view data = find_member(event.body, "data");
  TaskApproval approval;
  approval.id = text_member(data, "approvalID");
  if (approval.id.empty()) return;
  std::erase_if(state.approvals, [&](const TaskApproval& each) { return each.id == approval.id; });
  std::string now = text_member(data, "state");
  if (now != "pending" && now != "open") return;  // drivers write "pending"
  if (state.approvals.size() >= kMaxTaskApprovals) state.approvals.erase(state.approvals.begin());
  approval.kind = text_member(data, "kind");
  approval.tool = text_member(event.body, "tool");
  if (approval.tool.empty()) approval.tool = text_member(data, "tool");
  approval.summary = unescape(event.summary).value_or("");
  approval.sequence = event.sequence;
  if (auto expires = parse_timestamp(text_member(data, "expiresAt"))) approval.expires_ms = *expires;
  state.approvals.push_back(std::move(approval));
}

void fold_runner(TaskState& state, const FoldEvent& event) {
  std::string_view data = find_member(event.body, "data");
  std::string_view capabilities = find_member(data, "capabilities");
  if (capabilities.starts_with('{') && capabilities.size() <= kMaxCapabilitiesBytes) {
    state.capabilities_json = capabilities;
  }
  std::string confined = text_member(data, "confined");
  if (confined == "none" || confined == "secrets" || confined == "workspace") state.confined = std::move(confined);
  // Only the server grants leases, so a producer's claim of one is ignored.
  auto epoch = event.by_server ? count_value(find_member(data, "leaseEpoch")) : std::nullopt;
  if (!epoch.value_or(0)) return;
  state.runner = text_member(data, "runner");
  state.lease_epoch = epoch.value_or(0);
  ++state.claims;
}

void end_commands(TaskState& state) {
  state.approvals.clear();
  for (TaskCommand& command : state.commands) {
    if (command.state != CommandState::accepted) continue;
    command.state = CommandState::refused;
    command.reason = "task_ended";
  }
}

const TaskCommand* find_command(const TaskState& state, std::string_view id) {
  auto found = std::ranges::find(state.commands, id, &TaskCommand::id);
  return found == state.commands.end() ? nullptr : &*found;
}

const TaskApproval* find_approval(const TaskState& state, std::string_view id) {
  auto found = std::ranges::find(state.approvals, id, &TaskApproval::id);
  return found == state.approvals.end() ? nullptr : &*found;
}

bool is_open(const TaskState& state, const TaskCommand& command) {
  if (is_terminal(state.state) || is_settled(command.state)) return false;
  if (command.state == CommandState::accepted || state.capabilities_json.empty()) return true;
  return lists(state.capabilities_json, "acknowledges", command.kind);
}

bool takes_command(const TaskState& state, CommandKind kind) {
  return state.capabilities_json.empty() || lists(state.capabilities_json, "commands", kind);
}

const TaskCommand* answer_to(const TaskState& state, std::string_view approval_id) {
  auto found = std::ranges::find_if(state.commands, [&](const TaskCommand& each) {
    return each.approval_id == approval_id && each.state != CommandState::refused &&
           each.state != CommandState::expired;
  });
  return found == state.commands.end() ? nullptr : &*found;
}

}  // namespace shepherd
