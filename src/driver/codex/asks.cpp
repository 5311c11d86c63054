#include <algorithm>
#include <utility>

#include "driver/codex/codex.h"
#include "driver/limits.h"
#include "json/scan.h"
#include "json/write.h"
#include "model/condense.h"

namespace shepherd {
namespace {

constexpr std::string_view kQuestion = "AskUserQuestion";

std::string decision_json(std::string_view decision) {
  return R"({"decision":")" + std::string(decision) + "\"}";
}

// {"action":…,"content":…,"_meta":…}
std::string elicitation_json(std::string_view action, std::string_view content, std::string_view meta) {
  return object_text([&](JsonObject& object) {
    object.text("action", action);
    object.json("content", content);
    object.json("_meta", meta);
  });
}

// The texts of an answer: a string, or an array of them.
std::vector<std::string> answer_texts(std::string_view value) {
  if (auto text = string_value(value)) return {*text};
  std::vector<std::string> all;
  for (std::string_view each : array_elements(value).value_or(std::vector{value})) {
    all.push_back(string_value(each).value_or(std::string(each)));
  }
  return all;
}

// Answers by question -> {"answers":{ID:{"answers":[…]}}}, where the questions have ids.
std::string input_answers(std::string_view input, std::string_view answers) {
  return object_text([&](JsonObject& result) {
    result.object("answers", [&](JsonObject& by_id) {
      for (std::string_view question :
           array_elements(find_member(input, "questions")).value_or(std::vector<std::string_view>{})) {
        std::string_view given = find_member(answers, text_member(question, "question"));
        if (given.empty()) given = find_member(answers, text_member(question, "id"));
        if (given.empty()) continue;
        std::string id;
        append_json_string(id, text_member(question, "id"));
        by_id.object(inside_quotes(id), [&](JsonObject& answer) { answer.texts("answers", answer_texts(given)); });
      }
    });
  });
}

// Answers to the fields of a form, each as its schema wants it.
std::string form_content(std::string_view input, std::string_view answers) {
  std::string_view fields = find_member(find_member(input, "schema"), "properties");
  std::string content = "{";
  JsonMembers given(answers);
  while (given.next()) {
    std::string name(given.key());
    JsonMembers known(fields);
    std::string_view schema;
    while (known.next()) {
      bool meant =
          known.key() == given.key() || text_member(known.value(), "title") == string_value("\"" + name + "\"");
      if (!meant) continue;
      name = known.key();
      schema = known.value();
      break;
    }
    std::string type = text_member(schema, "type");
    std::string text = string_value(given.value()).value_or("");
    bool plain = type == "boolean" ? text == "true" || text == "false" : number_value(text).has_value();
    bool convert = (type == "boolean" || type == "number" || type == "integer") && plain;
    content.append(content.size() > 1 ? ",\"" : "\"").append(name).append("\":");
    content.append(convert ? std::string_view(text) : given.value());
  }
  return content + "}";
}

}  // namespace

// The server asks something of us. Whatever it is, it gets an answer: it would wait for one.
void Codex::server_request(std::string_view method, Actions& out) {
  std::string id(record_.find("id").slice);
  const JsonNode& params = record_.find("params");
  bool answerable = format_ == CodexFormat::app_server && id.size() <= kMaxAgentIdBytes;
  if (answerable) {
    if (method == "item/commandExecution/requestApproval") return ask_decision(id, false, params, out);
    if (method == "item/fileChange/requestApproval") return ask_decision(id, true, params, out);
    if (method == "item/permissions/requestApproval") return ask_permissions(id, params, out);
    if (method == "item/tool/requestUserInput") return ask_input(id, params, out);
    if (method == "mcpServer/elicitation/request") return ask_elicitation(id, params, out);
  }
  unknown(method, out);
  if (answerable) out.write(error_answer_line(id, "not supported"));
}

void Codex::ask_decision(std::string_view id, bool files, const JsonNode& params, Actions& out) {
  PendingAsk approval;
  approval.tool = files ? "Edit" : "Bash";
  approval.call_id = record_.string(params, "itemId").substr(0, kMaxAgentIdBytes);
  const OpenCall* call = calls_.find(approval.call_id);
  if (call != nullptr) approval.parent_call_id = call->parent;
  if (files && call != nullptr) {
    approval.tool = call->tool;
    approval.input = call->plan;
  } else if (files) {
    approval.input = "{}";
  } else {
    approval.input = object_text([&](JsonObject& input) {
      const JsonNode& network = record_.find(params, "networkApprovalContext");
      input.text("command", inner_command(record_.string(params, "command")));
      std::string_view where = record_.string(params, "cwd");
      if (where != cwd_) input.text_unless_empty("cwd", where);
      if (network.kind == JsonKind::object) input.json("network", network.slice);
    });
  }
  std::string_view wider = record_.string(params, "grantRoot");
  std::string message(record_.string(params, "reason"));
  if (!wider.empty()) message.append(message.empty() ? "" : "; ").append("for all files below ").append(wider);
  CodexAsk ask;
  ask.id = id;
  ask_operator(std::move(ask), std::move(approval), message, record_.string(params, "turnId"), out);
}

void Codex::ask_permissions(std::string_view id, const JsonNode& params, Actions& out) {
  PendingAsk approval;
  approval.tool = "Permissions";
  approval.call_id = record_.string(params, "itemId").substr(0, kMaxAgentIdBytes);
  CodexAsk ask;
  ask.form = CodexAsk::Form::permissions;
  ask.id = id;
  // What is null is not asked for, and cannot be granted.
  ask.permissions = object_text([&](JsonObject& wanted) {
    const JsonNode& all = record_.find(params, "permissions");
    for (const JsonNode* each = record_.first(all); each != nullptr; each = record_.after(*each)) {
      if (each->kind != JsonKind::null) wanted.json(each->key, each->slice);
    }
  });
  approval.input = ask.permissions;
  ask_operator(std::move(ask), std::move(approval), record_.string(params, "reason"), record_.string(params, "turnId"),
               out);
}

void Codex::ask_input(std::string_view id, const JsonNode& params, Actions& out) {
  PendingAsk approval;
  approval.kind = PendingAsk::Kind::question;
  approval.tool = kQuestion;
  approval.call_id = record_.string(params, "itemId").substr(0, kMaxAgentIdBytes);
  approval.input = object_text([&](JsonObject& input) {
    const JsonNode& questions = record_.find(params, "questions");
    input.json("questions", questions.kind == JsonKind::array ? questions.slice : "[]");
  });
  CodexAsk ask;
  ask.form = CodexAsk::Form::input;
  ask.id = id;
  ask_operator(std::move(ask), std::move(approval), "", record_.string(params, "turnId"), out);
}

// A server of tools asks: for leave to use one, or for something that it wants to know.
void Codex::ask_elicitation(std::string_view id, const JsonNode& params, Actions& out) {
  const JsonNode& about = record_.find(params, "_meta");
  std::string_view server = record_.string(params, "serverName");
  std::string_view message = record_.string(params, "message");
  CodexAsk ask;
  ask.form = CodexAsk::Form::elicitation;
  ask.id = id;
  ask.tool = record_.string(about, "codex_approval_kind") == "mcp_tool_call";
  PendingAsk approval;
  // The newest running call of that server.
  std::string prefix = "mcp__" + std::string(server) + "__";
  for (const std::string& call_id : calls_.ids()) {
    const OpenCall* call = calls_.find(call_id);
    if (call == nullptr || !call->tool.starts_with(prefix)) continue;
    approval.call_id = call_id;
    approval.tool = call->tool;
    approval.input = call->plan;
  }
  if (!ask.tool) {
    approval.kind = PendingAsk::Kind::question;
    approval.tool = kQuestion;
    approval.input = object_text([&](JsonObject& input) {
      input.text("message", message);
      input.text_unless_empty("url", record_.string(params, "url"));
      const JsonNode& schema = record_.find(params, "requestedSchema");
      if (schema.kind == JsonKind::object) input.json("schema", schema.slice);
    });
  } else if (approval.call_id.empty()) {
    approval.tool = prefix.substr(0, prefix.size() - 2);
    const JsonNode& given = record_.find(about, "tool_params");
    approval.input = given.kind == JsonKind::object ? given.slice : "{}";
  }
  ask_operator(std::move(ask), std::move(approval), message, record_.string(params, "turnId"), out);
}

void Codex::ask_operator(CodexAsk ask, PendingAsk approval, std::string_view message, std::string_view turn,
                         Actions& out) {
  // The server counts its requests from 0 in each run; with the turn an id is one of all runs.
  std::string approval_id =
      std::string(turn.substr(0, kMaxAgentIdBytes / 2)) + "-" + string_value(ask.id).value_or(ask.id);
  EventParts parts = step(EventType::approval);
  std::string data;
  Detail detail;
  std::string summary = codex_call_summary(approval.tool, approval.input, cwd_);
  bool permission = approval.kind == PendingAsk::Kind::permission;
  write_object(data, [&](JsonObject& object) {
    object.text("approvalID", approval_id);
    object.text("state", "pending");
    object.text("kind", shepherd::name(approval.kind));
    object.text("tool", approval.tool);
    if (approval.input.size() <= kMaxEventDataBytes / 2) {
      object.json("input", approval.input);
    } else {
      object.json("input", condensed_input(approval.tool, approval.input));
      object.flag("inputCut", true);
      parts.cut.input = characters_in(approval.input);
      detail.json("input", approval.input);
    }
    object.text_unless_empty("message", event_text(message));
    mark_cut(parts, detail, event_text(message), message);
    if (permission && summary.size() <= kMaxEventTextBytes) object.texts("remember", {remembered(approval)});
  });
  if (permission) summary = "Needs approval: " + summary;
  parts.summary = summary;
  parts.tool = approval.tool;
  parts.data = data;
  parts.call_id = approval.call_id;
  parts.parent_call_id = approval.parent_call_id;
  parts.event_id = approval_id;
  emit(out, parts, std::move(detail));
  talk_.asks.insert_or_assign(approval_id, std::move(ask));
  talk_.approvals.open(approval_id, std::move(approval));
  if (mode_ == AgentMode::interactive) {
    hints_.turn = Hints::Turn::waiting;
    status(out, summary, "waiting_for_input");
  } else {
    decide_by_mode(approval_id, out);
  }
}

// What the agent can remember for the rest of its session: exactly this.
std::string Codex::remembered(const PendingAsk& approval) const {
  std::string command = text_member(approval.input, "command");
  if (approval.tool != "Bash" || command.empty()) return approval.tool;
  return "Bash(" + one_line(command, kTextSummaryCharacters) + ")";
}

// No operator is to be asked. What the agent asks for while it works alone is more than it was given, except where it
// was asked to ask: in the turn in which the mode changed.
void Codex::decide_by_mode(const std::string& approval_id, Actions& out) {
  const PendingAsk* approval = talk_.approvals.find(approval_id);
  auto ask = talk_.asks.find(approval_id);
  if (approval == nullptr || ask == talk_.asks.end()) return;
  bool plain = ask->second.form == CodexAsk::Form::decision || ask->second.tool;
  std::string id = ask->second.id;
  std::string_view state = plain ? "approved" : "denied";
  std::string_view why = plain ? "autonomous" : "autonomous: no operator to answer";
  out.write(answer_line(id, plain ? accepted(ask->second, false) : declined(ask->second)));
  close_approval(approval_id, state, why, out);
}

std::string Codex::accepted(const CodexAsk& ask, bool for_session) const {
  switch (ask.form) {
    case CodexAsk::Form::decision:
      return decision_json(for_session ? "acceptForSession" : "accept");
    case CodexAsk::Form::permissions:
      return R"({"permissions":)" + ask.permissions + R"(,"scope":")" + (for_session ? "session" : "turn") + "\"}";
    case CodexAsk::Form::input:
      return R"({"answers":{}})";
    case CodexAsk::Form::elicitation:
      return elicitation_json("accept", "{}", for_session ? R"({"persist":"session"})" : "null");
  }
  return "{}";
}

std::string Codex::declined(const CodexAsk& ask) const {
  switch (ask.form) {
    case CodexAsk::Form::decision:
      return decision_json("decline");
    case CodexAsk::Form::permissions:
      return R"({"permissions":{},"scope":"turn"})";
    case CodexAsk::Form::input:
      return R"({"answers":{}})";
    case CodexAsk::Form::elicitation:
      return elicitation_json("decline", "null", "null");
  }
  return "{}";
}

// Says in the log how an approval ended and forgets it.
void Codex::close_approval(std::string_view id, std::string_view state, std::string_view message, Actions& out) {
  std::string key(id);
  std::optional<PendingAsk> closed = talk_.approvals.close(key);
  if (!closed) return;
  talk_.asks.erase(key);
  const PendingAsk& approval = *closed;
  calls_.decided(approval.call_id, state == "denied" ? OpenCalls::Decision::denied : OpenCalls::Decision::made,
                 now_ms_);
  std::string data = closed_ask_data(key, approval, state, message);
  std::string summary = std::string(1, static_cast<char>(state[0] - 'a' + 'A')) + std::string(state.substr(1)) + ": " +
                        codex_call_summary(approval.tool, approval.input, cwd_);
  std::string event_id = key + "/" + std::string(state);
  EventParts parts = step(EventType::approval);
  parts.timestamp_ms = now_ms_;
  parts.summary = summary;
  parts.tool = approval.tool;
  parts.data = data;
  parts.call_id = approval.call_id;
  parts.parent_call_id = approval.parent_call_id;
  parts.event_id = event_id;
  add_event(out, parts);
  if (hints_.turn != Hints::Turn::waiting || !talk_.approvals.empty()) return;
  hints_.turn = Hints::Turn::running;
  EventParts running = step(EventType::status);
  running.timestamp_ms = now_ms_;
  running.summary = summary;
  running.data = R"({"state":"running"})";
  add_event(out, running);
}

// The server has the answer to a request of its own, ours or one that it made up.
void Codex::resolved(std::string_view id, Actions& out) {
  if (auto decided = talk_.decided.find(id); decided != talk_.decided.end()) {
    out.settle({decided->second, CommandState::acknowledged, ""});
    talk_.decided.erase(decided);
    return;
  }
  for (const auto& [approval_id, ask] : talk_.asks) {
    if (ask.id != id) continue;
    return close_approval(std::string(approval_id), "expired", "the agent does not wait for it any longer", out);
  }
}

void Codex::answer_approval(const Command& command, Actions& out) {
  auto refuse = [&](std::string reason) { out.settle({command.id, CommandState::refused, std::move(reason)}); };
  const PendingAsk* found = talk_.approvals.find(command.approval_id);
  auto asked = talk_.asks.find(command.approval_id);
  if (found == nullptr || asked == talk_.asks.end()) return refuse("this approval is not open");
  if (!command.option.empty()) return refuse("this agent's approvals have no options; approve or deny without one");
  const PendingAsk& approval = *found;
  const CodexAsk& ask = asked->second;
  bool question = approval.kind == PendingAsk::Kind::question;
  std::string result;
  std::string_view state;
  if (command.kind == CommandKind::deny) {
    if (!command.remember.empty()) return refuse("this agent cannot remember a refusal");
    result = declined(ask);
    state = "denied";
  } else if (command.kind == CommandKind::answer) {
    if (!question) return refuse("this approval is not a question; approve or deny it");
    result = ask.form == CodexAsk::Form::input
                 ? input_answers(approval.input, command.answers_json)
                 : elicitation_json("accept", form_content(approval.input, command.answers_json), "null");
    state = "answered";
  } else {
    bool page = question && !text_member(approval.input, "url").empty();
    if (question && !page) return refuse("this is a question; answer it");
    if (!command.input_json.empty()) return refuse("this agent does not take a changed input; deny it and say why");
    if (!command.remember.empty() && (page || command.remember != remembered(approval))) {
      return refuse("this agent can remember " + (page ? std::string("nothing here") : remembered(approval)));
    }
    result = accepted(ask, !command.remember.empty());
    state = "approved";
  }
  std::string request = ask.id;
  talk_.decided.insert_or_assign(request, command.id);
  close_approval(command.approval_id, state, command.message, out);
  // An answer has no room for words. They go before it as a message of their own, because the agent asks its model
  // again as soon as it has the answer.
  if (command.kind != CommandKind::answer && !command.message.empty())
    say(command.id + "/message", "", command.message, out);
  out.write(answer_line(request, result));
  out.settle({command.id, CommandState::delivered, ""});
}

}  // namespace shepherd
