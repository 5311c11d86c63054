#include <algorithm>
#include <utility>

#include "driver/acp/acp_agent.h"
#include "driver/acp/form.h"
#include "driver/acp/limits.h"
#include "driver/acp/rpc_lines.h"
#include "driver/limits.h"
#include "json/write.h"
#include "model/condense.h"
#include "model/visible_text.h"

namespace shepherd {
namespace {

constexpr std::string_view kCancelledOutcome = R"({"outcome":{"outcome":"cancelled"}})";

std::string selected(std::string_view option) {
  return object_text([&](JsonObject& object) {
    object.object("outcome", [&](JsonObject& outcome) {
      outcome.text("outcome", "selected");
      outcome.text("optionId", option);
    });
  });
}

// All that the agent offers: it may have several ways to allow the same thing.
template <class Options>
std::string options_json(const Options& options) {
  std::string list;
  for (const auto& option : options) {
    list.push_back(list.empty() ? '[' : ',');
    write_object(list, [&](JsonObject& object) {
      object.text("id", option.id);
      object.text("name", option.name);
      object.text_unless_empty("kind", option.kind);
    });
  }
  return list + "]";
}

template <class Options>
std::string ids_of(const Options& options) {
  std::string ids;
  for (const auto& option : options) ids.append(ids.empty() ? "" : ", ").append(option.id);
  return ids;
}

std::string capital(std::string_view word) {
  return std::string(1, static_cast<char>(word[0] - 'a' + 'A')) + std::string(word.substr(1));
}

}  // namespace

const AcpAgent::Ask::Option* AcpAgent::Ask::option(std::string_view kind, std::string_view named) const {
  const Option* first = nullptr;
  for (const Option& each : options) {
    if (each.kind != kind) continue;
    if (!named.empty() && (each.name == named || each.id == named)) return &each;
    if (first == nullptr) first = &each;
  }
  return first;
}

const AcpAgent::Ask::Option* AcpAgent::Ask::named(std::string_view wanted) const {
  for (auto member : {&Option::id, &Option::name}) {
    auto found = std::ranges::find(options, wanted, member);
    if (found != options.end()) return &*found;
  }
  return nullptr;
}

// The agent asks something of us. Whatever it is, it gets an answer: it would wait for one.
void AcpAgent::request(std::string_view method, Actions& out) {
  std::string_view id = record_.find("id").slice;
  if (id.size() > kMaxAgentIdBytes) return unknown(method, out);
  if (asks_.size() + hosted_.size() >= kMaxAcpOpenRequests) {
    return out.write(rpc_error(id, kRpcInternal, "too many open requests"));
  }
  if (method == "session/request_permission") return permission(out);
  if (method == "elicitation/create") return elicitation(out);
  if (host_request(method, record_.find("params"), out)) return;
  unknown(method, out);
  out.write(rpc_error(id, kRpcNoMethod, "not supported"));
}

void AcpAgent::permission(Actions& out) {
  const JsonNode& params = record_.find("params");
  const JsonNode& node = record_.find(params, "toolCall");
  taken_up(out);
  close_block(out);
  Ask ask;
  ask.request_id = record_.find("id").slice;
  const JsonNode& options = record_.find(params, "options");
  for (const JsonNode* each = record_.first(options); each != nullptr; each = record_.after(*each)) {
    if (ask.options.size() == 20) break;
    std::string_view option_id = record_.string(*each, "optionId");
    if (option_id.size() > kMaxAgentIdBytes) continue;  // it could not be published, and so not be chosen
    ask.options.push_back({std::string(option_id), one_line(record_.string(*each, "name"), kMaxAgentIdBytes),
                           std::string(record_.string(*each, "kind").substr(0, kMaxAgentIdBytes))});
  }
  EventParts parts = step(EventType::approval);
  AcpCall* call = calls_.merge(record_, node, true, now_ms_);
  std::string call_id, description;
  if (call != nullptr) {
    tell_call(*call, out);
    ask.ask.tool = call->tool();
    ask.ask.input = acp_call_input(*call);
    ask.ask.call_id = call->agent_id;
    call_id = call->id;
    ask.summary = acp_call_summary(*call, launched_.directory);
    if (call->kind == "switch_mode") ask.ask.kind = PendingAsk::Kind::plan;
    description = acp_shown_text(*call);
  } else {
    ask.ask.tool = "tool";
    ask.ask.input = "{}";
    ask.summary = "Using a tool";
  }
  parts.call_id = call_id;
  open_ask(std::move(ask), parts, description, out);
  if (calls_.full()) end_call(std::string(calls_.open().front().agent_id), "forgotten", out);
}

void AcpAgent::elicitation(Actions& out) {
  const JsonNode& params = record_.find("params");
  taken_up(out);
  close_block(out);
  std::string message(record_.string(params, "message"));
  Ask ask;
  ask.request_id = record_.find("id").slice;
  ask.elicited = true;
  ask.ask.kind = PendingAsk::Kind::question;
  ask.ask.tool = "question";
  ask.summary = "Asking: " + one_line(visible_text(message), kTextSummaryCharacters - 10);
  std::string_view url = record_.string(params, "url");
  if (url.empty()) {
    const JsonNode& schema = record_.find(params, "requestedSchema");
    ask.form = true;
    if (schema.kind == JsonKind::object && schema.slice.size() <= kMaxWholeBytes) ask.schema = schema.slice;
    ask.ask.input = form_questions(message, ask.schema);
  } else {
    ask.ask.input = object_text([&](JsonObject& object) {
      object.text("question", message);
      object.text("url", url);
    });
    message.append("\n").append(url);
  }
  open_ask(std::move(ask), step(EventType::approval), message, out);
}

void AcpAgent::open_ask(Ask ask, const EventParts& about, std::string_view message, Actions& out) {
  // The agent numbers its requests anew in every process.
  std::string id = launched_.id + (launched_.id.empty() ? "" : "/") + "ask-" + std::to_string(next_ask_++);
  EventParts parts = about;
  Detail detail;
  std::string data = object_text([&](JsonObject& object) {
    object.text("approvalID", id);
    object.text("state", "pending");
    object.text("kind", shepherd::name(ask.ask.kind));
    object.text("tool", ask.ask.tool);
    if (ask.ask.input.size() <= kMaxEventDataBytes / 2) {
      object.json("input", ask.ask.input);
    } else {
      object.json("input", condensed_input(ask.ask.tool, ask.ask.input));
      object.flag("inputCut", true);
      parts.cut.input = characters_in(ask.ask.input);
      detail.json("input", ask.ask.input);
    }
    object.text_unless_empty("message", event_text(message));
    std::string remember;
    for (const Ask::Option& option : ask.options) {
      if (option.kind != "allow_always") continue;
      remember.push_back(remember.empty() ? '[' : ',');
      append_json_string(remember, option.name);
    }
    if (!remember.empty()) object.json("remember", remember + "]");
    if (!ask.options.empty()) object.json("options", options_json(ask.options));
  });
  mark_cut(parts, detail, event_text(message), message);
  std::string summary = ask.elicited ? ask.summary : "Needs approval: " + ask.summary;
  if (ask.ask.kind == PendingAsk::Kind::plan) summary = "Asks to go ahead with its plan";
  summary = one_line(summary, kTextSummaryCharacters);
  std::string tool = ask.ask.tool;
  parts.summary = summary;
  parts.tool = tool;
  parts.data = data;
  emit(out, parts, std::move(detail));
  asks_.insert_or_assign(id, std::move(ask));
  if (mode_ != AgentMode::interactive) return decide_by_mode(id, out);
  hints_.turn = Hints::Turn::waiting;
  status(out, summary, "waiting_for_input");
}

// No operator is to be asked: the task's own list of tools decides.
void AcpAgent::decide_by_mode(const std::string& approval_id, Actions& out) {
  const Ask& ask = asks_.at(approval_id);
  if (ask.elicited) {
    return answer_ask(approval_id, "denied", "autonomous: no operator to answer", R"({"action":"decline"})", out);
  }
  const AcpCall* call = calls_.find(ask.ask.call_id);
  const auto& allowed = launched_.allowed_tools;
  bool listed = allowed.empty() || std::ranges::any_of(allowed, [&](const std::string& tool) {
                  return tool == ask.ask.tool || (call != nullptr && tool == call->kind);
                });
  const Ask::Option* allow = ask.option("allow_once");
  if (allow == nullptr) allow = ask.option("allow_always");
  if (!listed || allow == nullptr) {
    const Ask::Option* reject = ask.option("reject_once");
    std::string result = reject == nullptr ? std::string(kCancelledOutcome) : selected(reject->id);
    std::string_view why =
        listed ? "autonomous: the agent offers no way to allow it" : "autonomous: not among the allowed tools";
    return answer_ask(approval_id, "denied", why, result, out);
  }
  answer_ask(approval_id, "approved", "autonomous", selected(allow->id), out);
}

// Gives the answer, says in the log how the question ended, and forgets it.
void AcpAgent::answer_ask(const std::string& id, std::string_view state, std::string_view message,
                          std::string_view result, Actions& out) {
  auto found = asks_.find(id);
  if (found == asks_.end()) return;
  Ask ask = std::move(found->second);
  asks_.erase(found);
  std::string call_id;
  if (AcpCall* call = calls_.find(ask.ask.call_id)) {
    call->denied = state == "denied";
    call->started_ms = call->changed_ms = now_ms_;  // what came before is not the tool's time
    call_id = call->id;
  }
  std::string data = closed_ask_data(id, ask.ask, state, message);
  std::string summary = one_line(capital(state) + ": " + ask.summary, kTextSummaryCharacters);
  EventParts parts;
  parts.type = EventType::approval;
  parts.timestamp_ms = now_ms_;
  parts.summary = summary;
  parts.tool = ask.ask.tool;
  parts.data = data;
  parts.call_id = call_id;
  parts.session_id = hints_.session_id;
  add_event(out, parts);
  if (!result.empty()) out.write(rpc_result(ask.request_id, result));
  if (hints_.turn != Hints::Turn::waiting || !asks_.empty()) return;
  hints_.turn = Hints::Turn::running;
  EventParts running;
  running.type = EventType::status;
  running.timestamp_ms = now_ms_;
  running.summary = summary;
  running.data = R"({"state":"running"})";
  running.session_id = hints_.session_id;
  add_event(out, running);
}

void AcpAgent::cancel_asks(std::string_view why, Actions& out) {
  while (!asks_.empty()) {
    std::string id = asks_.begin()->first;
    bool elicited = asks_.begin()->second.elicited;
    answer_ask(id, "expired", why, elicited ? R"({"action":"cancel"})" : kCancelledOutcome, out);
  }
}

// The agent takes a request of its own back.
void AcpAgent::cancel_request(Actions& out) {
  std::string request(record_.find(record_.find("params"), "requestId").slice);
  constexpr std::string_view kTakenBack = "cancelled";
  for (const auto& [id, ask] : asks_) {
    if (ask.request_id != request) continue;
    answer_ask(std::string(id), "expired", "withdrawn by the agent", "", out);
    return out.write(rpc_error(request, kRpcCancelled, kTakenBack));
  }
  for (const auto& [id, hosted] : hosted_) {
    if (hosted.request_id != request) continue;
    hosted_.erase(std::string(id));  // its answer comes to nothing
    return out.write(rpc_error(request, kRpcCancelled, kTakenBack));
  }
}

void AcpAgent::answer_approval(const Command& command, Actions& out) {
  auto refuse = [&](std::string reason) { out.settle({command.id, CommandState::refused, std::move(reason)}); };
  auto found = asks_.find(command.approval_id);
  if (found == asks_.end()) return refuse("this approval is not open");
  const Ask& ask = found->second;
  std::string result;
  std::string_view state;
  if (!command.option.empty()) {
    const Ask::Option* chosen = ask.named(command.option);
    if (chosen == nullptr) {
      return refuse("this approval has no option \"" + command.option + "\"; there are: " + ids_of(ask.options));
    }
    if (command.kind == CommandKind::answer) return refuse("an answer has no option; approve or deny with it");
    bool allows = !chosen->kind.starts_with("reject");
    if (allows != (command.kind == CommandKind::approve)) {
      return refuse("the option \"" + command.option +
                    (allows ? "\" allows the call; approve with it" : "\" refuses the call; deny with it"));
    }
    if (!command.input_json.empty()) return refuse("this agent takes no changed input");
    state = allows ? "approved" : "denied";
    result = selected(chosen->id);
  } else if (command.kind == CommandKind::deny) {
    state = "denied";
    const Ask::Option* always = ask.option("reject_always", command.remember);
    if (!command.remember.empty() && always == nullptr) return refuse("this agent cannot remember a refusal");
    const Ask::Option* reject = command.remember.empty() ? ask.option("reject_once") : always;
    result = ask.elicited        ? R"({"action":"decline"})"
             : reject == nullptr ? std::string(kCancelledOutcome)
                                 : selected(reject->id);
  } else if (command.kind == CommandKind::answer) {
    if (!ask.elicited) return refuse("this approval is not a question; approve or deny it");
    state = "answered";
    result = ask.form ? R"({"action":"accept","content":)" + form_content(ask.schema, command.answers_json) + "}"
                      : R"({"action":"accept"})";
  } else {
    if (ask.form) return refuse("this is a question; answer it");
    if (!command.input_json.empty()) return refuse("this agent takes no changed input");
    state = "approved";
    const Ask::Option* always = ask.option("allow_always", command.remember);
    if (!command.remember.empty() && always == nullptr) return refuse("this agent cannot remember it here");
    const Ask::Option* allow = command.remember.empty() ? ask.option("allow_once") : always;
    if (allow == nullptr) allow = always;
    if (allow == nullptr && !ask.elicited) return refuse("the agent offers no way to allow it");
    result = ask.elicited ? R"({"action":"accept"})" : selected(allow->id);
  }
  if (std::string call = ask.ask.call_id; !call.empty()) {
    // A second question about the same call: the first was heeded.
    settle_answer(call, out);
    decisions_.insert_or_assign(std::move(call), command.id);
  }
  answer_ask(command.approval_id, state, command.message, result, out);
  out.settle({command.id, CommandState::delivered, ""});
  // An answer has no room for words; they follow as a message of their own.
  if (!command.message.empty()) {
    Command words;
    words.content = command.message;
    say(words, command.message, true, out);
  }
}

}  // namespace shepherd
