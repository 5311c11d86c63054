// The tools of a turn: approvals, uses, and words of operators that come meanwhile.
#include <algorithm>
#include <utility>

#include "chat/shown_call.h"
#include "chat/tool_images.h"
#include "chat/turn.h"
#include "json/read.h"

namespace shepherd {
namespace {

ToolOutcome failed_outcome(std::string content) {
  ToolOutcome outcome;
  outcome.content = std::move(content);
  return outcome;
}

}  // namespace

void ChatTurn::next_tool() {
  if (over_) return;
  if (calls_.empty()) return take_words();
  ask_or_run(calls_.front());
}

bool ChatTurn::allowed(const ToolRequest& call) const {
  const Conversation& talk = log_->conversation();
  std::string rule = parts_.tools->rule_of(call.name, call.arguments);
  for (const Tool& tool : parts_.tools->tools()) {
    if (tool.definition.name == call.name && !tool.asks) return true;
  }
  auto listed = [&](const std::string& wanted) {
    return talk.remembers(wanted) ||
           std::find(parts_.config.allow.begin(), parts_.config.allow.end(), wanted) != parts_.config.allow.end();
  };
  if (listed(rule) || listed(call.name)) return true;
  return talk.mode() == AgentMode::autonomous;
}

void ChatTurn::ask_or_run(const ToolRequest& call) {
  ShownCall shown = shown_call(call, log_->parts().redactor);
  std::string what = "Calls " + call.name;
  if (parts_.tools != nullptr) what = parts_.tools->describe(call.name, shown.call.arguments);
  std::vector<ChatEvent> events;
  events.push_back(tool_call_event(shown.call, what));
  tool_logged_ = true;
  tool_began_ms_ = log_->parts().clock.steady_ms();
  bool known =
      std::ranges::any_of(offered_tools(parts_), [&](const Tool& tool) { return tool.definition.name == call.name; });
  JsonParser parser(call.arguments.size());
  auto parsed = parser.parse(call.arguments);
  bool object = parsed && parsed->is_object();
  bool asks = known && object && !allowed(call);
  // A person approves only what can be shown whole.
  bool fits = fits_approval(shown.call.arguments);
  if (asks && fits) {
    open_approval(call.id);
    std::string rule = parts_.tools->rule_of(call.name, call.arguments);
    if (log_->redacted(rule) != rule) rule.clear();  // it could not be matched later
    events.push_back(approval_event(shown.call, "pending", what, "", rule, shown.hidden));
    events.push_back(state_event(State::waiting_for_input, "Needs approval: " + what));
  }
  log_->append(std::move(events), [alive = alive_, known, object, asks, fits](Result<std::uint64_t> done) {
    if (*alive == nullptr || (*alive)->over_) return;
    ChatTurn& turn = **alive;
    if (!done) return turn.fail_turn(done.error(), done.error().reason);
    if (!known) return turn.tool_ended(failed_outcome("Error: there is no tool \"" + turn.calls_.front().name + "\"."));
    if (!object) return turn.tool_ended(failed_outcome("Error: the arguments are not a JSON object."));
    if (asks && !fits) {
      return turn.tool_ended(
          failed_outcome("Error: a person must approve this call, and its arguments are too long to "
                         "be shown: at most " +
                         std::to_string(kInlineArgumentBytes) + " bytes. Do it in smaller parts."));
    }
    if (!asks) turn.run_tool();
  });
}

void ChatTurn::open_approval(const std::string& id) {
  bool changes = id.empty() != open_approval_.empty();
  open_approval_ = id;
  if (changes && parts_.waits_for_person) parts_.waits_for_person(!id.empty());
}

bool ChatTurn::answer(const Command& command) {
  if (open_approval_.empty() || command.approval_id != open_approval_) return false;
  bool yes = command.kind == CommandKind::approve;
  ToolRequest& call = calls_.front();
  if (yes && !command.input_json.empty()) {
    auto changed = with_changes(call.arguments, command.input_json, log_->parts().redactor);
    if (!changed) {
      log_->append({settled_event(command.id, CommandState::refused, changed.error().message)});
      return true;
    }
    call.arguments = std::move(*changed);
  }
  open_approval({});
  std::string what = parts_.tools->describe(call.name, shown_call(call, log_->parts().redactor).call.arguments);
  std::vector<ChatEvent> events;
  events.push_back(approval_event(call, yes ? "approved" : "denied", what, command.message, command.remember));
  events.push_back(state_event(State::running, "goes on"));
  events.push_back(settled_event(command.id, CommandState::delivered, ""));
  events.push_back(settled_event(command.id, CommandState::acknowledged, ""));
  tool_began_ms_ = log_->parts().clock.steady_ms();
  std::string reason = "Error: a person denied this call.";
  if (!command.message.empty()) reason += " " + command.message;
  log_->append(std::move(events), [alive = alive_, yes, reason = std::move(reason)](Result<std::uint64_t> done) {
    if (*alive == nullptr || (*alive)->over_) return;
    if (!done) return (*alive)->fail_turn(done.error(), done.error().reason);
    if (yes) return (*alive)->run_tool();
    (*alive)->tool_ended(failed_outcome(reason), true);
  });
  return true;
}

void ChatTurn::run_tool() {
  const ToolRequest& call = calls_.front();
  run_ = parts_.tools->start(
      {log_->task(), call.id, call.name, call.arguments},
      [this](ToolOutcome outcome) {
        auto run = std::move(run_);
        if (!over_) tool_ended(std::move(outcome));
      },
      [this](std::string_view line) {
        if (!over_) log_->append({remark_event(line)});
      });
}

void ChatTurn::tool_ended(ToolOutcome outcome, bool denied) {
  const ToolRequest& call = calls_.front();
  ModelMessage message;
  message.role = Role::tool;
  message.content = outcome.content;
  message.tool_call_id = call.id;
  message.tool_name = call.name;
  message.failed = !outcome.success;
  attach_images(message, std::move(outcome.images));
  // Only a prompt with all results of a group can be counted.
  if (calls_.size() > 1 || !parts_.model.facts().counts_exactly) {
    return write_result(std::move(outcome), std::move(message), denied, std::nullopt);
  }
  ModelRequest told = request();
  told.messages.push_back(message);
  count_ = parts_.model.count(told, [this, outcome = std::move(outcome), message = std::move(message),
                                     denied](Result<std::int64_t> tokens) mutable {
    auto counting = std::move(count_);
    if (over_) return;
    std::optional<std::int64_t> own;
    if (tokens) own = std::max<std::int64_t>(*tokens - log_->conversation().total_tokens(), 0);
    write_result(std::move(outcome), std::move(message), denied, own);
  });
}

void ChatTurn::write_result(ToolOutcome outcome, ModelMessage message, bool denied,
                            std::optional<std::int64_t> tokens) {
  ToolRequest call = std::move(calls_.front());
  calls_.pop_front();
  tool_logged_ = false;
  MessageFacts facts;
  facts.tokens = tokens.value_or(estimated_tokens(message.content));
  facts.exact = tokens.has_value();
  std::string summary = outcome.summary.empty() ? message.content : outcome.summary;
  if (!outcome.proof.empty()) summary += " (" + outcome.proof + ")";
  std::vector<ChatEvent> events;
  events.push_back(tool_result_event(
      call, {outcome.success, log_->redacted(summary), log_->parts().clock.steady_ms() - tool_began_ms_, denied}));
  events.push_back(log_->message(message, facts));
  log_->append(std::move(events), [alive = alive_](Result<std::uint64_t> done) {
    if (*alive == nullptr || (*alive)->over_) return;
    if (!done) return (*alive)->fail_turn(done.error(), done.error().reason);
    (*alive)->next_tool();
  });
}

// Answers every open call with the same text; none of them runs.
void ChatTurn::refuse_tool(std::string content) {
  std::vector<ChatEvent> events;
  for (const ToolRequest& call : calls_) {
    ModelMessage message;
    message.role = Role::tool;
    message.content = content;
    message.tool_call_id = call.id;
    message.tool_name = call.name;
    message.failed = true;
    MessageFacts facts;
    facts.tokens = estimated_tokens(content);
    events.push_back(tool_call_event(shown_call(call, log_->parts().redactor).call, "Calls " + call.name));
    events.push_back(tool_result_event(call, {false, content, 0}));
    events.push_back(message_event(message, facts));
  }
  calls_.clear();
  log_->append(std::move(events), [alive = alive_](Result<std::uint64_t> done) {
    if (*alive == nullptr || (*alive)->over_) return;
    if (!done) return (*alive)->fail_turn(done.error(), done.error().reason);
    (*alive)->take_words();
  });
}

void ChatTurn::steer(Prompt word) {
  word.text = log_->redacted(word.text);
  words_.push_back(std::move(word));
}

// The words of operators, then the model again.
void ChatTurn::take_words() {
  if (words_.empty()) return plan();
  std::vector<ChatEvent> events;
  for (Prompt& word : words_) {
    ModelMessage message;
    message.content = word.text;
    MessageFacts facts;
    facts.tokens = estimated_tokens(word.text);
    facts.by = word.by;
    events.push_back(message_event(message, facts));
    events.push_back(settled_event(word.command_id, CommandState::delivered, ""));
    events.push_back(settled_event(word.command_id, CommandState::acknowledged, ""));
  }
  words_.clear();
  log_->append(std::move(events), [alive = alive_](Result<std::uint64_t> done) {
    if (*alive == nullptr || (*alive)->over_) return;
    if (!done) return (*alive)->fail_turn(done.error(), done.error().reason);
    (*alive)->plan();
  });
}

}  // namespace shepherd
