#include "chat/session.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/assert.h"
#include "chat/limits.h"
#include "json/scan.h"
#include "llm/limits.h"

namespace shepherd {

ChatSession::ChatSession(TurnParts parts, std::shared_ptr<SessionLog> log, std::function<void(ChatSession&)> ready,
                         std::function<void(ChatSession&)> idle)
    : parts_(std::move(parts)), log_(std::move(log)), ready_(std::move(ready)), idle_(std::move(idle)) {
  touch();
}

void ChatSession::touch() {
  used_ms_ = log_->parts().clock.steady_ms();
}

Result<void> ChatSession::add(ChatRequest request) {
  if (ended_) {
    return fail(ErrorCode::conflict, "session_ended", "This session has ended. Fork it to go on, or use another name.");
  }
  if (queue_.size() >= kMaxQueuedPrompts) {
    return fail(ErrorCode::rate_limited, "queue_full", "Too many prompts wait in this session. Send it again later.");
  }
  touch();
  queue_.push_back(std::move(request));
  ready_(*this);
  return {};
}

void ChatSession::run_next() {
  SHEPHERD_ASSERT(has_next(), "one turn at a time");
  auto request = std::make_shared<ChatRequest>(std::move(queue_.front()));
  queue_.pop_front();
  turn_began_ms_ = log_->parts().clock.steady_ms();
  turn_first_ = 0;
  turn_was_read_ = false;
  log_->begin_recent();
  auto begun = [this, request](std::uint64_t sequence) {
    turn_first_ = sequence;
    if (request->begun) request->begun(sequence);
  };
  Prompt prompt = request->prompt;
  turn_ = std::make_unique<ChatTurn>(parts_, log_, std::move(prompt), std::move(begun),
                                     [this, request](TurnEnd end) { turn_done(*request, std::move(end)); });
  turn_->begin();
}

void ChatSession::turn_done(ChatRequest& request, TurnEnd end) {
  turn_ended_ms_ = log_->parts().clock.steady_ms();
  // The turn is the caller, so it is destroyed later.
  log_->parts().loop.post([turn = std::shared_ptr<ChatTurn>(std::move(turn_))] {});
  touch();
  if (request.done) request.done(std::move(end));
  if (clearing_) begin_clear();
  idle_(*this);
}

bool ChatSession::cancel(std::string_view reason) {
  if (turn_ == nullptr) return false;
  turn_->cancel(reason);
  return true;
}

void ChatSession::clear(std::function<void(Result<void>)> done) {
  touch();
  clears_.push_back(std::move(done));
  if (clearing_) return;
  clearing_ = true;
  auto waiting = std::exchange(queue_, {});
  for (ChatRequest& request : waiting) {
    if (!request.prompt.command_id.empty()) {
      log_->append({settled_event(request.prompt.command_id, CommandState::refused, "the conversation was cleared")});
    }
    if (request.done) request.done({fail(ErrorCode::gone, "cancelled", "The conversation was cleared."), 0});
  }
  if (!cancel("The conversation was cleared.")) begin_clear();
}

void ChatSession::begin_clear() {
  std::vector<std::uint64_t> all;
  std::int64_t tokens = 0;
  for (const ChatMessage& each : conversation().messages()) {
    all.push_back(each.sequence);
    tokens += each.tokens;
  }
  std::int64_t left = conversation().system_tokens();
  log_->append({eviction_event(all, tokens, left, EvictionReason::cleared, true)},
               [self = shared_from_this()](Result<std::uint64_t> done) {
                 self->clearing_ = false;
                 Result<void> result;
                 if (!done) result = fail(done.error());
                 for (auto& each : std::exchange(self->clears_, {})) each(result);
                 if (self->has_next()) self->ready_(*self);
               });
}

void ChatSession::settle(const Command& command, CommandState state, std::string_view reason) {
  log_->append({settled_event(command.id, state, reason)});
}

void ChatSession::refuse_command(const std::string& id, std::string_view reason) {
  log_->append({settled_event(id, CommandState::refused, reason)});
}

Result<void> ChatSession::command(const Command& command) {
  if (std::find(commands_.begin(), commands_.end(), command.id) != commands_.end()) return {};
  commands_.push_back(command.id);
  if (commands_.size() > kMaxQueuedPrompts) commands_.pop_front();
  touch();
  switch (command.kind) {
    case CommandKind::steer:
      if (turn_ != nullptr) {
        turn_->steer({command.content, 0, command.by, command.id});
        settle(command, CommandState::accepted, "held for the model's next call");
        return {};
      }
      [[fallthrough]];
    case CommandKind::queue: {
      settle(command, CommandState::accepted, "held for its turn");
      auto added = add({{command.content, max_tokens_of(command), command.by, command.id}, {}, {}});
      if (!added) settle(command, CommandState::refused, added.error().message);
      return added;
    }
    case CommandKind::interrupt: {
      bool cancelled = cancel(command.reason.empty() ? "cancelled by an operator" : command.reason);
      settle(command, cancelled ? CommandState::acknowledged : CommandState::refused,
             cancelled ? "" : "no turn is running");
      return {};
    }
    case CommandKind::approve:
    case CommandKind::deny:
      if (turn_ == nullptr || !turn_->answer(command)) {
        settle(command, CommandState::refused, "this approval is not open");
      }
      return {};
    case CommandKind::set_mode:
      log_->append(
          {state_event(turn_ == nullptr ? State::paused : State::running, "mode: " + std::string(name(command.mode)),
                       R"("mode":")" + std::string(name(command.mode)) + '"'),
           settled_event(command.id, CommandState::acknowledged, "")});
      return {};
    case CommandKind::stop: {
      std::string why = command.reason.empty() ? "stopped by an operator" : command.reason;
      end(why);
      log_->append({settled_event(command.id, CommandState::acknowledged, "no process is left"),
                    state_event(State::cancelled, why)});
      return {};
    }
    case CommandKind::resume:
    case CommandKind::answer:
      settle(command, CommandState::refused, "a chat session does not take this command");
      return {};
  }
  return {};
}

// The prompt's own bound travels in the command's metadata, so that it survives a restart.
std::int64_t ChatSession::max_tokens_of(const Command& command) const {
  auto given = number_value(find_member(command.metadata_json, kMaxTokensMember));
  if (!given || *given == 0) return parts_.config.max_tokens;
  return static_cast<std::int64_t>(std::clamp(*given, -1.0, static_cast<double>(kMaxCount)));
}

// The end of a turn if none runs: a client waits for that.
void ChatSession::note_refusal(const Error& error) {
  if (!ended_) log_->append({error_event(error.reason, error.message, !busy())});
}

void ChatSession::end(std::string_view reason) {
  if (ended_) return;
  ended_ = true;
  refuse_waiting({ErrorCode::gone, "session_ended", std::string(reason), {}});
  cancel(reason);
}

void ChatSession::stop(const Error& why) {
  if (ended_) return;
  ended_ = true;
  refuse_waiting(why);
  if (turn_ != nullptr) turn_->end(why);
}

void ChatSession::refuse_waiting(const Error& why) {
  auto waiting = std::exchange(queue_, {});
  for (ChatRequest& request : waiting) {
    if (request.done) request.done({fail(why), 0});
  }
}

std::uint64_t ChatSession::young_turn() const {
  std::int64_t now_ms = log_->parts().clock.steady_ms();
  bool young = turn_began_ms_ >= 0 && now_ms - turn_began_ms_ <= kTurnReplay.count();
  bool unanswered = turn_ != nullptr || now_ms - turn_ended_ms_ < kAnswerAfterEvents.count();
  return young && unanswered && !turn_was_read_ ? turn_first_ : 0;
}

void ChatSession::recover(const TaskState& state, std::function<void()> done) {
  const Conversation& talk = conversation();
  std::vector<ChatEvent> events;
  std::set<std::string> closed;
  constexpr std::string_view kEnded = "the server ended";
  constexpr std::string_view kUnknown =
      "Error: the server ended while this call ran. Whether it had an effect is not known, and it was not run again.";
  constexpr std::string_view kNotRun = "Error: not run, because the server ended before.";
  for (const ToolRequest& call : talk.unanswered()) {
    bool begun = talk.open_calls().contains(call.id);
    bool asked = talk.open_approvals().contains(call.id);
    if (asked) events.push_back(approval_event(call, "expired", kEnded, kEnded, ""));
    if (asked) closed.insert(call.id);
    std::string content(begun && !asked ? kUnknown : kNotRun);
    if (begun) events.push_back(tool_result_event(call, {false, content, 0}));
    ModelMessage message;
    message.role = Role::tool;
    message.content = content;
    message.tool_call_id = call.id;
    message.tool_name = call.name;
    message.failed = true;
    MessageFacts facts;
    facts.tokens = estimated_tokens(content);
    events.push_back(message_event(message, facts));
  }
  // Retention may have dropped the messages of an open turn; the row still has what it waits for.
  for (const TaskApproval& asked : state.approvals) {
    if (closed.contains(asked.id)) continue;
    events.push_back(approval_event({asked.id, asked.tool, "{}"}, "expired", kEnded, kEnded, ""));
  }
  bool at_work = state.state == State::running || state.state == State::waiting_for_input;
  if (talk.turn_open() || at_work) {
    events.push_back(error_event("server_restarted", "The server ended during this turn. Ask again.", true));
    events.push_back(state_event(State::paused, "waits for the next prompt"));
  }
  if (events.empty()) return done();
  log_->append(std::move(events), [done = std::move(done)](Result<std::uint64_t>) { done(); });
}

}  // namespace shepherd
