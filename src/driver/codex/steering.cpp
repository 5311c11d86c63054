#include <algorithm>
#include <utility>
#include <vector>

#include "driver/codex/codex.h"
#include "driver/limits.h"
#include "json/write.h"

namespace shepherd {
namespace {

constexpr std::uint32_t kind_bit(CommandKind kind) {
  return 1U << static_cast<unsigned>(kind);
}

}  // namespace

Capabilities Codex::capabilities() const {
  Capabilities can;
  can.resumes_sessions = true;
  can.commands = kind_bit(CommandKind::stop);
  if (format_ != CodexFormat::app_server) return can;
  can.deltas = launched_.deltas;
  can.approvals = true;
  can.commands = (1U << kCommandKinds) - 1;
  // A new mode is part of the next turn's request; nothing tells of it alone.
  can.acknowledges = can.commands & ~kind_bit(CommandKind::set_mode);
  return can;
}

AgentTraits Codex::traits() const {
  AgentTraits traits;
  traits.model = Means::own;
  traits.modes = Means::own;
  traits.mcp_servers = Means::own;
  traits.budget = Means::runner;
  traits.use = ToldUse::tokens;
  traits.questions = true;
  traits.sub_agents = true;
  return traits;
}

void Codex::command(const Command& command, std::int64_t now_ms, Actions& out) {
  now_ms_ = at_ms_ = now_ms;
  emitted_ = 1;  // no record is at hand
  parent_call_.clear();
  auto refuse = [&](std::string reason) { out.settle({command.id, CommandState::refused, std::move(reason)}); };
  if (!capabilities().can(command.kind)) {
    return refuse("not possible with output format " + std::string(shepherd::name(format_)) +
                  ": the agent does not listen");
  }
  bool busy = in_turn() || turn_asked_;
  switch (command.kind) {
    case CommandKind::steer:
      return say(command.id, command.id, command.content, out);
    case CommandKind::queue:
      if (!busy && talk_.held.empty() && hints_.turns > 0) return say(command.id, command.id, command.content, out);
      talk_.held.push_back(command);
      return out.settle({command.id, CommandState::accepted, "held for the next turn"});
    case CommandKind::interrupt:
      if (!busy) return refuse("no turn is running");
      return interrupt(command, out);
    case CommandKind::resume:
      if (busy) return refuse("a turn is running; steer it instead");
      return say(command.id, command.id, command.guidance.empty() ? "Continue." : command.guidance, out);
    case CommandKind::set_mode:
      policy_changed_ = policy_changed_ || mode_ != command.mode;
      mode_ = command.mode;
      out.settle({command.id, CommandState::delivered, ""});
      if (mode_ != AgentMode::autonomous) return;
      while (!talk_.approvals.empty()) decide_by_mode(talk_.approvals.first(), out);
      return;
    case CommandKind::approve:
    case CommandKind::deny:
    case CommandKind::answer:
      return answer_approval(command, out);
    case CommandKind::stop:
      return stop(command, out);
  }
}

void Codex::ask_server(CodexRequest request, std::string_view method, std::string_view params, Actions& out) {
  std::uint64_t id = talk_.next_request++;
  out.write(request_line(id, method, params));
  talk_.requests.emplace(id, std::move(request));
}

// A message to the model under an id of ours: into the running turn, or as the next one. Where a turn is asked for and
// not known yet, or the first one is still to come, it waits for its beginning.
void Codex::say(const std::string& word_id, const std::string& command_id, std::string_view text, Actions& out) {
  talk_.words.push_back({word_id, command_id, std::string(text)});
  if (in_turn()) {
    steer(word_id, out);
  } else if (!turn_asked_ && hints_.turns > 0) {
    start_turn(word_id, out);
  }
  if (!command_id.empty()) out.settle({command_id, CommandState::delivered, ""});
}

std::vector<std::string> Codex::unsaid_words() const {
  std::vector<std::string> ids;
  for (const CodexWord& word : talk_.words) {
    if (!word.said) ids.push_back(word.id);
  }
  return ids;
}

void Codex::steer(const std::string& word_id, Actions& out) {
  CodexWord* word = talk_.word(word_id);
  if (word == nullptr) return;
  word->said = true;
  std::string params = object_text([&](JsonObject& object) {
    object.text("threadId", hints_.session_id);
    object.text("expectedTurnId", turn_);
    object.text("clientUserMessageId", word_id);
    object.json("input", text_input(word->text));
  });
  ask_server({CodexRequest::Kind::steer, word_id}, "turn/steer", params, out);
}

void Codex::start_turn(const std::string& word_id, Actions& out) {
  CodexWord* word = talk_.word(word_id);
  if (word == nullptr) return;
  word->said = true;
  std::string params = object_text([&](JsonObject& object) {
    object.text("threadId", hints_.session_id);
    object.text("clientUserMessageId", word_id);
    object.json("input", text_input(word->text));
    if (policy_changed_) object.text("approvalPolicy", mode_ == AgentMode::autonomous ? "never" : "untrusted");
  });
  policy_changed_ = false;
  turn_asked_ = true;
  ask_server({CodexRequest::Kind::start_turn, word_id}, "turn/start", params, out);
}

// While a turn is only asked for it has no name by which it could be interrupted.
void Codex::interrupt(const Command& command, Actions& out) {
  if (!in_turn() || turn_.empty()) {
    if (early_interrupt_) return out.settle({command.id, CommandState::refused, "the turn is about to be interrupted"});
    early_interrupt_ = command;
    return out.settle({command.id, CommandState::delivered, ""});
  }
  std::string params = object_text([&](JsonObject& object) {
    object.text("threadId", hints_.session_id);
    object.text("turnId", turn_);
  });
  bool stops = command.kind == CommandKind::stop;
  ask_server({CodexRequest::Kind::interrupt, command.id, stops}, "turn/interrupt", params, out);
  out.settle({command.id, CommandState::delivered, ""});
}

void Codex::stop(const Command& command, Actions& out) {
  stopping_ = true;
  // It does not listen; the ladder ends it.
  if (format_ != CodexFormat::app_server) return out.settle({command.id, CommandState::delivered, ""});
  for (const Command& held : talk_.held) {
    out.settle({held.id, CommandState::refused, "the task was stopped"});
  }
  talk_.held.clear();
  if (in_turn() && !turn_.empty()) return interrupt(command, out);
  out.settle({command.id, CommandState::delivered, ""});
  out.settle({command.id, CommandState::acknowledged, ""});
  out.close_input();
}

void Codex::withdraw(std::string_view command_id) {
  std::erase_if(talk_.held, [&](const Command& held) { return held.id == command_id; });
}

// A turn for the oldest held message; the next ones wait for its end.
void Codex::release_held(Actions& out) {
  if (talk_.held.empty() || turn_asked_ || stopping_) return;
  Command next = std::move(talk_.held.front());
  talk_.held.pop_front();
  say(next.id, next.id, next.content, out);
}

// The server shows a message of ours as part of the conversation.
void Codex::taken_up(const CodexItem& item, Actions& out) {
  CodexWord* word = item.client_id.empty() ? nullptr : talk_.word(item.client_id);
  if (word != nullptr) acknowledge(*word, out);
}

void Codex::acknowledge(CodexWord& word, Actions& out) {
  if (std::exchange(word.taken_up, true) || word.command_id.empty()) return;
  out.settle({word.command_id, CommandState::acknowledged, ""});
}

// A turn is over: what it has taken up is through. What it did not take up any more is for the next one, unless an
// operator broke it off.
void Codex::forget_words(Actions& out) {
  for (CodexWord& word : talk_.words) {
    if (word.begins) acknowledge(word, out);
  }
  std::erase_if(talk_.words, [](const CodexWord& word) { return word.taken_up; });
  if (stopping_ || turn_asked_) return;
  if (hints_.interrupted) {
    for (const CodexWord& word : std::exchange(talk_.words, {})) {
      if (word.command_id.empty()) continue;
      out.settle({word.command_id, CommandState::refused, "the turn was interrupted before the agent took it up"});
    }
    return;
  }
  // Whether the server took the others, its answer will say.
  auto asked = [&](const CodexWord& word) {
    return std::ranges::any_of(talk_.requests, [&](const auto& each) { return each.second.command_id == word.id; });
  };
  for (CodexWord& word : talk_.words) {
    if (!asked(word)) word.said = false;
  }
  if (auto waiting = unsaid_words(); !waiting.empty()) start_turn(waiting.front(), out);
}

}  // namespace shepherd
