#include <utility>

#include "driver/acp/acp_agent.h"
#include "driver/acp/rpc_lines.h"
#include "json/write.h"

namespace shepherd {
namespace {

constexpr std::uint32_t bit(CommandKind kind) {
  return 1U << static_cast<unsigned>(kind);
}

}  // namespace

// Steering is an extension that the agent tells of when it starts; the session's first status says so.
Capabilities AcpAgent::capabilities() const {
  Capabilities can;
  can.commands = ((1U << kCommandKinds) - 1) & ~bit(CommandKind::steer);
  if (can_steer_) can.commands |= bit(CommandKind::steer);
  can.acknowledges = can.commands;
  can.approvals = true;
  can.deltas = launched_.deltas;
  // Before its first words it may do what the protocol has; what it costs is known when it says so.
  can.cost = usage_.cost_usd().has_value();
  can.resumes_sessions = !initialized_ || can_load_ || can_resume_;
  return can;
}

AgentTraits AcpAgent::traits() const {
  AgentTraits traits;
  traits.model = Means::own;
  traits.modes = Means::own;
  traits.allowed_tools = Means::runner;
  traits.mcp_servers = Means::own;
  traits.budget = Means::runner;
  traits.use = ToldUse::tokens;
  traits.questions = true;
  return traits;
}

void AcpAgent::command(const Command& command, std::int64_t now_ms, Actions& out) {
  now_ms_ = now_ms;
  emitted_ = 1;  // no record is at hand
  auto refuse = [&](std::string reason) { out.settle({command.id, CommandState::refused, std::move(reason)}); };
  bool over = hints_.turn == Hints::Turn::idle && !open_;
  if (over && command.kind != CommandKind::stop) return refuse("the agent has no session");
  switch (command.kind) {
    case CommandKind::steer:
      return say(command, command.content, true, out);
    case CommandKind::queue:
      return say(command, command.content, false, out);
    case CommandKind::interrupt:
      if (!in_turn() || !prompted_) return refuse("no turn is running");
      if (!interrupts_.empty() || cancelling_) return refuse("the turn is being interrupted already");
      interrupts_ = command.id;
      interrupt(out);
      return out.settle({command.id, CommandState::delivered, ""});
    case CommandKind::resume:
      if (in_turn()) return refuse("a turn is running; queue it instead");
      return say(command, command.guidance.empty() ? "Continue." : command.guidance, false, out);
    case CommandKind::set_mode:
      return change_mode(command, out);
    case CommandKind::approve:
    case CommandKind::deny:
    case CommandKind::answer:
      return answer_approval(command, out);
    case CommandKind::stop:
      stopping_ = true;
      for (const Held& held : std::exchange(held_, {})) {
        out.settle({held.command.id, CommandState::refused, "the task was stopped"});
      }
      out.settle({command.id, CommandState::delivered, ""});
      stop_ = command.id;
      if (in_turn() && prompted_) return interrupt(out);
      leave(out);
      return out.close_input();
  }
}

// Words to the agent: a prompt of their own when it is idle. In a turn they wait for its end, unless the agent takes up
// words in the middle of one.
void AcpAgent::say(const Command& command, std::string_view text, bool steer, Actions& out) {
  if (steer && can_steer_ && in_turn() && prompted_ && !cancelling_) {
    std::string params = object_text([&](JsonObject& object) {
      object.text("sessionId", hints_.session_id);
      std::string& blocks = object.member("prompt");
      blocks.push_back('[');
      write_object(blocks, [&](JsonObject& block) {
        block.text("type", "text");
        block.text("text", text);
      });
      blocks.push_back(']');
      object.json("_meta", R"({"steering":{"idleBehavior":"promptRequired"}})");
    });
    Command words = command;
    words.content = text;
    send("_session/steering", params, {Sent::What::steer, command.id, "", std::move(words)}, out);
    return out.settle({command.id, CommandState::delivered, ""});
  }
  if (in_turn()) {
    return hold(command, text,
                steer ? "this agent cannot be steered in its turn; held for the next one" : "held for the next turn",
                out);
  }
  prompt(text, command.id, out);
  out.settle({command.id, CommandState::delivered, ""});
}

void AcpAgent::hold(const Command& command, std::string_view text, std::string_view why, Actions& out) {
  if (!in_turn()) {
    prompt(text, command.id, out);
    return out.settle({command.id, CommandState::delivered, ""});
  }
  held_.push_back({command, std::string(text)});
  out.settle({command.id, CommandState::accepted, std::string(why)});
}

void AcpAgent::withdraw(std::string_view command_id) {
  std::erase_if(held_, [&](const Held& held) { return held.command.id == command_id; });
}

// One at a time: a prompt is a turn.
void AcpAgent::release_held(Actions& out) {
  if (held_.empty()) return;
  Held next = std::move(held_.front());
  held_.pop_front();
  prompt(next.text, next.command.id, out);
  out.settle({next.command.id, CommandState::delivered, ""});
}

// The agent ends the turn when all it asked is answered.
void AcpAgent::interrupt(Actions& out) {
  cancelling_ = true;
  std::string params = object_text([&](JsonObject& object) { object.text("sessionId", hints_.session_id); });
  out.write(rpc_notification("session/cancel", params));
  cancel_asks("the turn was interrupted", out);
}

// Who decides is the driver's matter. An agent in a mode that asks nothing is put into one that asks.
void AcpAgent::change_mode(const Command& command, Actions& out) {
  mode_ = command.mode;
  std::string mode = mode_ == AgentMode::interactive && open_ ? asking_mode() : "";
  if (!mode.empty()) {
    plan_mode(mode);
    Setting setting = std::move(settings_.back());
    settings_.pop_back();
    send(setting.method, setting.params, {Sent::What::setting, command.id, setting.about, {}}, out);
    return out.settle({command.id, CommandState::delivered, ""});
  }
  out.settle({command.id, CommandState::delivered, ""});
  out.settle({command.id, CommandState::acknowledged, ""});
  if (mode_ != AgentMode::autonomous) return;
  while (!asks_.empty()) decide_by_mode(std::string(asks_.begin()->first), out);
}

}  // namespace shepherd
