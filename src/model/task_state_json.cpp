#include "json/read.h"

#include "json/write.h"
#include "model/task_fold.h"
#include "model/usage_json.h"
namespace shepherd {
namespace {

namespace dom = simdjson::dom;

// Takes a member if it has the expected type; otherwise keeps the default.
template <class T>
void take(dom::element from, const char* key, T& into) {
  T value{};
  if (from[key].get(value) == simdjson::SUCCESS) into = value;
}
void take(dom::element from, const char* key, std::string& into) {
  std::string_view text;
  take(from, key, text);
  if (!text.empty()) into = text;
}

Usage read_usage(dom::element from) {
  Usage usage;
  take(from, "costUSD", usage.cost_usd);
  take(from, "inputTokens", usage.input_tokens);
  take(from, "outputTokens", usage.output_tokens);
  take(from, "cacheReadTokens", usage.cache_read_tokens);
  take(from, "cacheWriteTokens", usage.cache_write_tokens);
  take(from, "apiCalls", usage.api_calls);
  take(from, "toolUses", usage.tool_uses);
  take(from, "turns", usage.turns);
  take(from, "unpriced", usage.unpriced);
  return usage;
}

void append_stored_commands(std::string& out, const std::vector<TaskCommand>& commands) {
  out.push_back('[');
  for (const TaskCommand& command : commands) {
    if (out.back() != '[') out.push_back(',');
    write_object(out, [&](JsonObject& object) {
      object.text("id", command.id);
      object.text("kind", name(command.kind));
      object.text("state", name(command.state));
      object.text_unless_empty("by", command.by);
      object.text_unless_empty("reason", command.reason);
      object.text_unless_empty("approvalID", command.approval_id);
      object.number("sequence", command.sequence);
      object.number("expiresMS", command.expires_ms);
    });
  }
  out.push_back(']');
}

void append_stored_approvals(std::string& out, const std::vector<TaskApproval>& approvals) {
  out.push_back('[');
  for (const TaskApproval& approval : approvals) {
    if (out.back() != '[') out.push_back(',');
    write_object(out, [&](JsonObject& object) {
      object.text("id", approval.id);
      object.text_unless_empty("kind", approval.kind);
      object.text_unless_empty("tool", approval.tool);
      object.text_unless_empty("summary", approval.summary);
      object.number("sequence", approval.sequence);
      if (approval.expires_ms != 0) object.number("expiresMS", approval.expires_ms);
    });
  }
  out.push_back(']');
}

std::vector<TaskCommand> read_commands(dom::element root) {
  std::vector<TaskCommand> commands;
  dom::array array;
  if (root["commands"].get(array) != simdjson::SUCCESS) return commands;
  for (dom::element each : array) {
    TaskCommand command;
    std::string kind, state;
    take(each, "id", command.id);
    take(each, "kind", kind);
    take(each, "state", state);
    take(each, "by", command.by);
    take(each, "reason", command.reason);
    take(each, "approvalID", command.approval_id);
    take(each, "sequence", command.sequence);
    take(each, "expiresMS", command.expires_ms);
    command.kind = command_kind(kind).value_or(CommandKind::steer);
    command.state = command_state(state).value_or(CommandState::refused);
    commands.push_back(std::move(command));
  }
  return commands;
}

std::vector<TaskApproval> read_approvals(dom::element root) {
  std::vector<TaskApproval> approvals;
  dom::array array;
  if (root["approvals"].get(array) != simdjson::SUCCESS) return approvals;
  for (dom::element each : array) {
    TaskApproval approval;
    take(each, "id", approval.id);
    take(each, "kind", approval.kind);
    take(each, "tool", approval.tool);
    take(each, "summary", approval.summary);
    take(each, "sequence", approval.sequence);
    take(each, "expiresMS", approval.expires_ms);
    approvals.push_back(std::move(approval));
  }
  return approvals;
}

}  // namespace

std::string encode_task_state(const TaskState& state) {
  std::string out = object_text([&](JsonObject& object) {
    object.text("state", name(state.state));
    if (state.inferred_end) object.flag("inferredEnd", true);
    object.text_unless_empty("message", state.message);
    object.text_unless_empty("activity", state.activity);
    object.text_unless_empty("prURL", state.pr_url);
    object.text_unless_empty("error", state.error);
    object.text_unless_empty("sessionID", state.session_id);
    object.text_unless_empty("model", state.model);
    object.number("firstSequence", state.first_sequence);
    object.number("lastSequence", state.last_sequence);
    object.number("errors", state.errors);
    object.number("toolCalls", state.tool_calls);
    object.number("startedMS", state.started_ms);
    object.number("lastEventMS", state.last_event_ms);
    object.number("completedMS", state.completed_ms);
    if (state.end_sequence != 0) object.number("endSequence", state.end_sequence);
    if (!state.commands.empty()) append_stored_commands(object.member("commands"), state.commands);
    if (!state.approvals.empty()) append_stored_approvals(object.member("approvals"), state.approvals);
    if (!state.capabilities_json.empty()) object.json("capabilities", state.capabilities_json);
    object.text_unless_empty("confined", state.confined);
    object.text_unless_empty("runner", state.runner);
    if (state.lease_epoch != 0) object.number("leaseEpoch", state.lease_epoch);
    if (state.claims != 0) object.number("claims", state.claims);
    if (!state.usage_by_session.empty()) {
      append_usage(object.member("usage"), state.usage);
      auto& sessions = object.member("usageBySession");
      sessions.push_back('[');
      for (const auto& [session, usage] : state.usage_by_session) {
        if (sessions.back() != '[') sessions.push_back(',');
        write_object(sessions, [&](JsonObject& entry) {
          entry.text("sessionID", session);
          append_usage(entry.member("usage"), usage);
        });
      }
      sessions.push_back(']');
    }
  });
  return out;
}

TaskState decode_task_state(std::string_view json) {
  TaskState state;
  JsonParser parser(json.size());
  auto root = parser.parse(json);
  if (!root) return state;
  std::string state_name;
  take(*root, "state", state_name);
  state.state = state_named(state_name).value_or(State::queued);
  take(*root, "inferredEnd", state.inferred_end);
  take(*root, "message", state.message);
  take(*root, "activity", state.activity);
  take(*root, "prURL", state.pr_url);
  take(*root, "error", state.error);
  take(*root, "sessionID", state.session_id);
  take(*root, "model", state.model);
  take(*root, "firstSequence", state.first_sequence);
  take(*root, "lastSequence", state.last_sequence);
  take(*root, "errors", state.errors);
  take(*root, "toolCalls", state.tool_calls);
  take(*root, "startedMS", state.started_ms);
  take(*root, "lastEventMS", state.last_event_ms);
  take(*root, "completedMS", state.completed_ms);
  take(*root, "endSequence", state.end_sequence);
  state.commands = read_commands(*root);
  state.approvals = read_approvals(*root);
  dom::object capabilities;
  if ((*root)["capabilities"].get(capabilities) == simdjson::SUCCESS) {
    state.capabilities_json = simdjson::minify(capabilities);
  }
  take(*root, "confined", state.confined);
  take(*root, "runner", state.runner);
  take(*root, "leaseEpoch", state.lease_epoch);
  take(*root, "claims", state.claims);
  dom::element usage;
  if ((*root)["usage"].get(usage) == simdjson::SUCCESS) state.usage = read_usage(usage);
  dom::array sessions;
  if ((*root)["usageBySession"].get(sessions) == simdjson::SUCCESS) {
    for (dom::element entry : sessions) {
      std::string session;
      take(entry, "sessionID", session);
      dom::element part;
      if (entry["usage"].get(part) == simdjson::SUCCESS) state.usage_by_session[session] = read_usage(part);
    }
  }
  return state;
}

}  // namespace shepherd
