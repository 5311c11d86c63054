#include <utility>

#include "driver/call_summary.h"
#include "driver/limits.h"
#include "driver/opencode/opencode_server.h"
#include "json/scan.h"
#include "json/write.h"
#include "model/condense.h"

namespace shepherd {
namespace {

// "bash(touch *)": what `always` would allow.
std::string offered_rules(const JsonSlices& json, std::string_view permission, const JsonNode& always) {
  std::string rules;
  for (const JsonNode* each = json.first(always); each != nullptr; each = json.after(*each)) {
    rules.push_back(rules.empty() ? '[' : ',');
    append_json_string(rules, std::string(permission) + "(" + std::string(each->text) + ")");
  }
  if (!rules.empty()) rules.push_back(']');
  return rules;
}

// {"What colour?":"Blue","Sizes?":["S","M"]} in the order of the questions: [["Blue"],["S","M"]].
std::string answers_in_order(std::string_view questions, std::string_view answers) {
  std::string out = "[";
  auto asked = array_elements(questions);
  if (!asked) return "[]";
  for (std::string_view question : *asked) {
    std::string_view given = find_member(answers, text_member(question, "question"));
    out.append(out.size() > 1 ? "," : "");
    if (given.starts_with('[')) {
      out.append(given);
    } else if (given.starts_with('"')) {
      out.append("[").append(given).append("]");
    } else {
      out.append("[]");
    }
  }
  return out + "]";
}

// The same words to every question.
std::string same_answer(std::string_view questions, std::string_view words) {
  auto asked = array_elements(questions);
  std::string out = "[";
  for (std::size_t i = 0; asked && i < asked->size(); ++i) {
    out.append(i > 0 ? ",[" : "[");
    append_json_string(out, words);
    out.push_back(']');
  }
  return out + "]";
}

std::string first_question(std::string_view input) {
  auto asked = array_elements(find_member(input, "questions"));
  return asked && !asked->empty() ? text_member(asked->front(), "question") : "";
}

}  // namespace

void OpenCodeServer::permission_asked(Actions& out) {
  const JsonSlices& json = events_.json();
  const JsonNode& properties = json.find(json.find("event"), "properties");
  std::string_view permission = json.string(properties, "permission");
  PendingAsk ask;
  ask.tool = permission.substr(0, kMaxAgentIdBytes);
  ask.call_id = json.string(json.find(properties, "tool"), "callID").substr(0, kMaxAgentIdBytes);
  ask.parent_call_id = parent_call();
  const JsonNode& metadata = json.find(properties, "metadata");
  ask.input = metadata.kind == JsonKind::object ? metadata.slice : "{}";
  std::string patterns;
  const JsonNode& about = json.find(properties, "patterns");
  for (const JsonNode* each = json.first(about); each != nullptr; each = json.after(*each)) {
    patterns.append(patterns.empty() ? "" : ", ").append(each->text);
  }
  if (find_member(ask.input, "command").empty() && find_member(ask.input, "filepath").empty()) {
    // Nothing but patterns says what it is about.
    ask.input = object_text([&](JsonObject& object) {
      object.json("patterns", about.kind == JsonKind::array ? about.slice : "[]");
      if (metadata.kind == JsonKind::object) object.json("metadata", metadata.slice);
    });
  }
  std::string summary = "Needs approval: " + opencode_ask_summary(permission, ask.input, patterns);
  this->ask(std::move(ask), summary, offered_rules(json, permission, json.find(properties, "always")), out);
}

void OpenCodeServer::question_asked(Actions& out) {
  const JsonSlices& json = events_.json();
  const JsonNode& properties = json.find(json.find("event"), "properties");
  PendingAsk ask;
  ask.kind = PendingAsk::Kind::question;
  ask.tool = "question";
  ask.call_id = json.string(json.find(properties, "tool"), "callID").substr(0, kMaxAgentIdBytes);
  ask.parent_call_id = parent_call();
  const JsonNode& questions = json.find(properties, "questions");
  ask.input = object_text([&](JsonObject& object) {
    object.json("questions", questions.kind == JsonKind::array ? questions.slice : "[]");
  });
  std::string summary = "Asking: " + first_question(ask.input);
  this->ask(std::move(ask), summary, "", out);
}

void OpenCodeServer::ask(PendingAsk ask, std::string_view summary, std::string_view remember, Actions& out) {
  const JsonSlices& json = events_.json();
  std::string id(json.string(json.find(json.find("event"), "properties"), "id"));
  if (id.empty() || id.size() > kMaxAgentIdBytes || approvals_.find(id) != nullptr) return;
  EventParts parts = events_.step(EventType::approval);
  Detail detail;
  std::string data = object_text([&](JsonObject& object) {
    object.text("approvalID", id);
    object.text("state", "pending");
    object.text("kind", shepherd::name(ask.kind));
    object.text("tool", ask.tool);
    if (ask.input.size() <= kMaxEventDataBytes / 2) {
      object.json("input", ask.input);
    } else {
      object.json("input", condensed_input(ask.tool, ask.input));
      object.flag("inputCut", true);
      parts.cut.input = characters_in(ask.input);
      detail.json("input", ask.input);
    }
    if (!remember.empty() && remember.size() <= kMaxEventTextBytes) object.json("remember", remember);
  });
  std::string line = one_line(summary, kTextSummaryCharacters);
  parts.summary = line;
  parts.tool = ask.tool;
  parts.data = data;
  parts.call_id = ask.call_id;
  parts.parent_call_id = ask.parent_call_id;
  parts.event_id = id;
  events_.emit(out, parts, std::move(detail));
  rules_.insert_or_assign(id, std::string(remember));
  approvals_.open(id, std::move(ask));
  if (mode_ == AgentMode::interactive) {
    hints_.turn = Hints::Turn::waiting;
    events_.status(out, line, "waiting_for_input");
  } else {
    decide_by_mode(id, out);
  }
}

// No operator is to be asked. What the task's own list does not allow, the configuration has denied before.
void OpenCodeServer::decide_by_mode(const std::string& id, Actions& out) {
  const PendingAsk* ask = approvals_.find(id);
  if (ask == nullptr) return;
  if (ask->kind == PendingAsk::Kind::question) {
    constexpr std::string_view kAlone = "No operator is here to answer. Decide by yourself and say how you decided.";
    std::string answers = same_answer(find_member(ask->input, "questions"), kAlone);
    send({Asked::reply, "", false}, "POST", "/question/" + id + "/reply", "{\"answers\":" + answers + "}", out);
    return close_approval(id, "denied", "autonomous: no operator to answer", out);
  }
  send({Asked::reply, "", false}, "POST", "/permission/" + id + "/reply", R"({"reply":"once"})", out);
  close_approval(id, "approved", "autonomous", out);
}

void OpenCodeServer::answer_approval(const Command& command, Actions& out) {
  auto refuse = [&](std::string reason) { out.settle({command.id, CommandState::refused, std::move(reason)}); };
  const PendingAsk* ask = approvals_.find(command.approval_id);
  if (ask == nullptr) return refuse("this approval is not open");
  if (!command.option.empty()) return refuse("this agent's approvals have no options; approve or deny without one");
  const std::string& id = command.approval_id;
  bool question = ask->kind == PendingAsk::Kind::question;
  std::string path, body, state;
  if (command.kind == CommandKind::deny) {
    if (!command.remember.empty()) return refuse("this agent cannot remember a refusal");
    path = question ? "/question/" + id + "/reject" : "/permission/" + id + "/reply";
    if (!question) {
      body = object_text([&](JsonObject& object) {
        object.text("reply", "reject");
        object.text_unless_empty("message", command.message);  // without one the turn ends
      });
    }
    state = "denied";
  } else if (command.kind == CommandKind::answer) {
    if (!question) return refuse("this approval is not a question; approve or deny it");
    path = "/question/" + id + "/reply";
    body = "{\"answers\":" + answers_in_order(find_member(ask->input, "questions"), command.answers_json) + "}";
    state = "answered";
  } else {
    if (question) return refuse("this is a question; answer it");
    if (!command.input_json.empty()) return refuse("this agent cannot be given another input");
    std::string quoted;
    append_json_string(quoted, command.remember);
    if (!command.remember.empty() && rules_[id].find(quoted) == std::string::npos) {
      return refuse("it can remember only what its question names");
    }
    path = "/permission/" + id + "/reply";
    body = command.remember.empty() ? R"({"reply":"once"})" : R"({"reply":"always"})";
    state = "approved";
  }
  replies_.insert_or_assign(id, command.id);
  close_approval(id, state, command.message, out);
  send({Asked::reply, command.id, false}, "POST", std::move(path), std::move(body), out);
  out.settle({command.id, CommandState::delivered, ""});
  // An approval has no room for words; they follow as a message of their own.
  if (command.kind == CommandKind::approve && !command.message.empty()) say("", command.message, out);
}

// The service says that a question has its answer: ours, or that of another of its clients.
void OpenCodeServer::replied(std::string_view state, Actions& out) {
  const JsonSlices& json = events_.json();
  std::string_view id = json.string(json.find(json.find("event"), "properties"), "requestID");
  auto decided = replies_.find(id);
  if (decided != replies_.end()) {
    out.settle({decided->second, CommandState::acknowledged, ""});
    replies_.erase(decided);
  }
  close_approval(id, state, "decided by another client of the agent", out);
}

// Says in the log how an approval ended and forgets it.
void OpenCodeServer::close_approval(std::string_view id, std::string_view state, std::string_view message,
                                    Actions& out) {
  std::optional<PendingAsk> closed = approvals_.close(id);
  if (!closed) return;
  rules_.erase(std::string(id));
  tools_.decided(closed->call_id, state == "denied" ? OpenCalls::Decision::denied : OpenCalls::Decision::made,
                 events_.now_ms());
  std::string data = closed_ask_data(id, *closed, state, message);
  std::string what = closed->kind == PendingAsk::Kind::question ? "Asking: " + first_question(closed->input)
                                                                : opencode_ask_summary(closed->tool, closed->input, "");
  std::string summary =
      std::string(1, static_cast<char>(state[0] - 'a' + 'A')) + std::string(state.substr(1)) + ": " + what;
  summary = one_line(summary, kTextSummaryCharacters);
  std::string event_id = std::string(id) + "/" + std::string(state);
  EventParts parts = events_.step(EventType::approval);
  parts.summary = summary;
  parts.tool = closed->tool;
  parts.data = data;
  parts.call_id = closed->call_id;
  parts.parent_call_id = closed->parent_call_id;
  parts.event_id = event_id;
  events_.emit(out, parts);
  if (hints_.turn != Hints::Turn::waiting || !approvals_.empty()) return;
  hints_.turn = Hints::Turn::running;
  events_.status(out, summary, "running");
}

// The turn ended while they were open.
void OpenCodeServer::expire_all(Actions& out) {
  Hints::Turn turn = std::exchange(hints_.turn, Hints::Turn::none);  // no approval of these lets it go on
  while (!approvals_.empty()) close_approval(approvals_.first(), "expired", "the turn has ended", out);
  hints_.turn = turn;
}

}  // namespace shepherd
