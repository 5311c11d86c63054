#include <utility>

#include "driver/claude/claude_code.h"
#include "driver/limits.h"
#include "json/scan.h"
#include "json/write.h"
#include "model/condense.h"
#include "model/wire_json.h"

namespace shepherd {
namespace {

PendingAsk::Kind kind_of(std::string_view tool) {
  if (tool == "AskUserQuestion") return PendingAsk::Kind::question;
  if (tool == "ExitPlanMode") return PendingAsk::Kind::plan;
  return PendingAsk::Kind::permission;
}

// The rules among the agent's suggestions, as an operator may remember them one by one. The others (a looser mode, more
// directories) would allow far more than was asked.
std::string rules_of(const JsonSlices& record, const JsonNode& suggestions) {
  std::string out;
  for (const JsonNode* each = record.first(suggestions); each != nullptr; each = record.after(*each)) {
    if (record.string(*each, "type") != "addRules" || record.string(*each, "behavior") != "allow") continue;
    const JsonNode& rules = record.find(*each, "rules");
    for (const JsonNode* rule = record.first(rules); rule != nullptr; rule = record.after(*rule)) {
      std::string text(record.string(*rule, "toolName"));
      std::string_view content = record.string(*rule, "ruleContent");
      if (!content.empty()) text.append("(").append(content).append(")");
      out.push_back(out.empty() ? '[' : ',');
      append_json_string(out, text);
    }
  }
  if (!out.empty()) out.push_back(']');
  return out;
}

}  // namespace

// The agent asks something of us.
void ClaudeCode::control_request(Actions& out) {
  std::string_view id = record_.string("request_id");
  const JsonNode& request = record_.find("request");
  std::string_view subtype = record_.string(request, "subtype");
  bool answerable = format_ == OutputFormat::bidirectional && !id.empty() && id.size() <= kMaxAgentIdBytes;
  if (subtype == "can_use_tool" && answerable) return ask_operator(id, request, out);
  // Hooks are not asked for. Whatever else it is, the agent gets an answer: it would wait for one.
  if (subtype == "hook_callback") {
    if (answerable) out.write(response_line(id, "{}"));
    return;
  }
  unknown(out);
  if (answerable) out.write(error_response_line(id, "not supported"));
}

void ClaudeCode::ask_operator(std::string_view id, const JsonNode& request, Actions& out) {
  PendingAsk approval;
  approval.tool = record_.string(request, "tool_name").substr(0, kMaxAgentIdBytes);
  approval.kind = kind_of(approval.tool);
  const JsonNode& input = record_.find(request, "input");
  approval.input = input.kind == JsonKind::object ? input.slice : "{}";
  approval.call_id = record_.string(request, "tool_use_id");
  const OpenCall* call = calls_.find(approval.call_id);
  if (call != nullptr) approval.parent_call_id = call->parent;
  bool plan = approval.kind == PendingAsk::Kind::plan && call != nullptr && !call->plan.empty();

  EventParts parts = step(EventType::approval);
  std::string data;
  Detail detail;
  write_object(data, [&](JsonObject& object) {
    object.text("approvalID", id);
    object.text("state", "pending");
    object.text("kind", shepherd::name(approval.kind));
    object.text("tool", approval.tool);
    std::string_view shown = plan ? std::string_view(call->plan) : std::string_view(approval.input);
    if (shown.size() <= kMaxEventDataBytes / 2) {
      object.json("input", shown);
    } else {
      object.json("input", condensed_input(approval.tool, shown));
      object.flag("inputCut", true);
      parts.cut.input = characters_in(shown);
      detail.json("input", shown);
    }
    std::string_view description = record_.string(request, "description");
    object.text_unless_empty("message", event_text(description));
    mark_cut(parts, detail, event_text(description), description);
    object.text_unless_empty("blockedPath", event_text(record_.string(request, "blocked_path")));
    object.text_unless_empty("reason", event_text(record_.string(request, "decision_reason_type")));
    std::string rules = rules_of(record_, record_.find(request, "permission_suggestions"));
    if (!rules.empty() && rules.size() <= kMaxEventTextBytes) object.json("remember", rules);
  });
  std::string summary = claude_call_summary(approval.tool, approval.input, cwd_);
  if (approval.kind == PendingAsk::Kind::permission) summary = "Needs approval: " + summary;
  if (plan) summary = "Asks to go ahead with its plan";
  std::string approval_id(id);
  parts.summary = summary;
  parts.tool = approval.tool;
  parts.data = data;
  parts.call_id = approval.call_id;
  parts.parent_call_id = approval.parent_call_id;
  parts.event_id = approval_id;
  emit(out, parts, std::move(detail));
  talk_.approvals.open(approval_id, std::move(approval));
  if (mode_ == AgentMode::interactive) {
    hints_.turn = Hints::Turn::waiting;
    status(out, summary, "waiting_for_input");
  } else {
    decide_by_mode(approval_id, out);
  }
}

// No operator is to be asked: the task's own list of tools decides.
void ClaudeCode::decide_by_mode(std::string_view approval_id, Actions& out) {
  const PendingAsk* found = talk_.approvals.find(approval_id);
  if (found == nullptr) return;
  const PendingAsk& approval = *found;
  if (approval.kind == PendingAsk::Kind::question) {
    constexpr std::string_view kAlone = "No operator is here to answer. Decide by yourself and say how you decided.";
    out.write(deny_line(approval_id, kAlone));
    return close_approval(approval_id, "denied", "autonomous: no operator to answer", out);
  }
  if (approval.kind == PendingAsk::Kind::permission && !launched_.allowed_tools.empty()) {
    out.write(deny_line(approval_id, "This tool use is not among those allowed for this task."));
    return close_approval(approval_id, "denied", "autonomous: not among the allowed tools", out);
  }
  out.write(allow_line(approval_id, approval.input, ""));
  close_approval(approval_id, "approved", "autonomous", out);
}

// Says in the log how an approval ended and forgets it.
void ClaudeCode::close_approval(std::string_view id, std::string_view state, std::string_view message, Actions& out) {
  std::optional<PendingAsk> closed = talk_.approvals.close(id);
  if (!closed) return;
  const PendingAsk& approval = *closed;
  calls_.decided(approval.call_id, state == "denied" ? OpenCalls::Decision::denied : OpenCalls::Decision::made,
                 now_ms_);
  std::string data = closed_ask_data(id, approval, state, message);
  std::string summary = std::string(1, static_cast<char>(state[0] - 'a' + 'A')) + std::string(state.substr(1)) + ": " +
                        claude_call_summary(approval.tool, approval.input, cwd_);
  std::string event_id = std::string(id) + "/" + std::string(state);
  EventParts parts;
  parts.type = EventType::approval;
  parts.timestamp_ms = now_ms_;
  parts.summary = summary;
  parts.tool = approval.tool;
  parts.data = data;
  parts.call_id = approval.call_id;
  parts.parent_call_id = approval.parent_call_id;
  parts.session_id = hints_.session_id;
  parts.event_id = event_id;
  add_event(out, parts);
  if (hints_.turn != Hints::Turn::waiting || !talk_.approvals.empty()) return;
  hints_.turn = Hints::Turn::running;
  EventParts running;
  running.type = EventType::status;
  running.timestamp_ms = now_ms_;
  running.summary = summary;
  running.data = R"({"state":"running"})";
  running.session_id = hints_.session_id;
  add_event(out, running);
}

// The turn was interrupted while the question was open.
void ClaudeCode::control_cancel(Actions& out) {
  close_approval(record_.string("request_id"), "expired", "withdrawn by the agent", out);
}

// The agent answers a request of ours.
void ClaudeCode::control_response(Actions& out) {
  const JsonNode& response = record_.find("response");
  auto found = talk_.requests.find(record_.string(response, "request_id"));
  if (found == talk_.requests.end()) return;
  ClaudeRequest request = std::move(found->second);
  talk_.requests.erase(found);
  if (record_.string(response, "subtype") != "success") {
    std::string reason(event_text(record_.string(response, "error")));
    if (reason.empty()) reason = "the agent refused";
    out.settle({request.command_id, CommandState::refused, std::move(reason)});
    return;
  }
  out.settle({request.command_id, CommandState::acknowledged, ""});
  if (request.kind == CommandKind::stop) out.close_input();
  if (request.kind != CommandKind::set_mode) return;
  mode_ = request.mode;
  if (mode_ != AgentMode::autonomous) return;
  while (!talk_.approvals.empty()) decide_by_mode(talk_.approvals.first(), out);
}

// The agent says what becomes of a message of ours: queued, started, completed, cancelled. From `started` on there is a
// turn for it, which its first line (`init`) tells only later; until `completed` or `cancelled` that turn is not over.
void ClaudeCode::lifecycle(Actions& out) {
  auto found = talk_.messages.find(record_.string("command_uuid"));
  if (found == talk_.messages.end()) return;
  ClaudeMessage& message = found->second;
  std::string_view state = record_.string("state");
  message.listed = true;
  if (state == "started" || state == "completed") take_up(message, out);
  if (state == "started" && !in_turn()) {
    hints_.turn = Hints::Turn::running;
    hints_.interrupted = false;
    turn_announced_ = true;
  }
  if (state != "completed" && state != "cancelled") return;
  if (!message.taken_up && !message.command_id.empty()) {
    out.settle({message.command_id, CommandState::refused, "cancelled before the agent took it up"});
  }
  talk_.messages.erase(found);
  // It needed no turn after all.
  if (std::exchange(turn_announced_, false)) hints_.turn = hints_.turns > 0 ? Hints::Turn::idle : Hints::Turn::none;
}

// The agent took a message up.
void ClaudeCode::take_up(ClaudeMessage& message, Actions& out) {
  if (std::exchange(message.taken_up, true) || message.command_id.empty()) return;
  out.settle({message.command_id, CommandState::acknowledged, ""});
}

// It shows the model a message of ours. One that does not tell more of it later has said its last word about it.
void ClaudeCode::shown_to_model(std::string_view uuid, Actions& out) {
  auto found = talk_.messages.find(uuid);
  if (found == talk_.messages.end()) return;
  take_up(found->second, out);
  if (!found->second.listed) talk_.messages.erase(found);
}

// The call that an operator decided about has gone on.
void ClaudeCode::settle_answer(std::string_view call_id, Actions& out) {
  if (auto decided_by = talk_.approvals.take_decision(call_id)) {
    out.settle({*std::move(decided_by), CommandState::acknowledged, ""});
  }
}

}  // namespace shepherd
