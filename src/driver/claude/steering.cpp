#include "driver/claude/claude_code.h"
#include "json/scan.h"
#include "json/write.h"

namespace shepherd {
namespace {

constexpr std::uint32_t bit(CommandKind kind) {
  return 1U << static_cast<unsigned>(kind);
}

// The agent's own names of our two modes. Its mode without any question cannot be entered later, so in ours the
// remaining questions are answered by the driver.
std::string_view permission_mode(AgentMode mode) {
  return mode == AgentMode::autonomous ? "acceptEdits" : "default";
}

// The tool's input with the operator's answers in it.
std::string with_answers(std::string_view input, std::string_view answers) {
  std::string out = "{";
  JsonMembers members(input);
  while (members.next()) {
    if (members.key() == "answers") continue;
    out.append("\"").append(members.key()).append("\":").append(members.value()).push_back(',');
  }
  return out.append("\"answers\":").append(answers).append("}");
}

}  // namespace

Capabilities ClaudeCode::capabilities() const {
  Capabilities can;
  can.cost = format_ != OutputFormat::text;
  can.resumes_sessions = true;
  can.commands = bit(CommandKind::stop);
  can.deltas = launched_.deltas && (format_ == OutputFormat::bidirectional || format_ == OutputFormat::stream);
  if (format_ != OutputFormat::bidirectional) return can;
  can.approvals = true;
  can.commands = (1U << kCommandKinds) - 1;
  can.acknowledges = can.commands;
  return can;
}

AgentTraits ClaudeCode::traits() const {
  AgentTraits traits;
  traits.model = Means::own;
  traits.modes = Means::own;
  traits.allowed_tools = Means::own;
  traits.mcp_servers = Means::own;
  traits.max_turns = Means::own;
  traits.budget = Means::own;
  traits.use = ToldUse::money;
  traits.questions = true;
  traits.sub_agents = true;
  return traits;
}

void ClaudeCode::command(const Command& command, std::int64_t now_ms, Actions& out) {
  now_ms_ = at_ms_ = now_ms;
  auto refuse = [&](std::string reason) { out.settle({command.id, CommandState::refused, std::move(reason)}); };
  if (!capabilities().can(command.kind)) {
    return refuse("not possible with output format " + std::string(shepherd::name(format_)) +
                  ": the agent does not listen");
  }
  auto ask = [&](auto line_with, AgentMode mode = AgentMode::autonomous) {
    std::string request_id = talk_.new_request_id();
    out.write(line_with(request_id));
    out.settle({command.id, CommandState::delivered, ""});
    talk_.requests.insert_or_assign(std::move(request_id), ClaudeRequest{command.id, command.kind, mode});
  };
  switch (command.kind) {
    case CommandKind::steer:
      return say(command, command.content, false, out);
    case CommandKind::queue:
      return say(command, command.content, true, out);
    case CommandKind::interrupt:
      if (!in_turn()) return refuse("no turn is running");
      return ask([](std::string_view id) { return interrupt_line(id, false); });
    case CommandKind::resume:
      if (in_turn()) return refuse("a turn is running; steer it instead");
      return say(command, command.guidance.empty() ? "Continue." : command.guidance, false, out);
    case CommandKind::set_mode:
      // Asking more takes effect at once, asking less when the agent has agreed.
      if (command.mode == AgentMode::interactive) mode_ = command.mode;
      return ask([&](std::string_view id) { return permission_mode_line(id, permission_mode(command.mode)); },
                 command.mode);
    case CommandKind::approve:
    case CommandKind::deny:
    case CommandKind::answer:
      return answer_approval(command, out);
    case CommandKind::stop:
      stopping_ = true;
      // It does not listen; the ladder ends it.
      if (format_ != OutputFormat::bidirectional) return out.settle({command.id, CommandState::delivered, ""});
      for (const Command& held : talk_.held) {
        out.settle({held.id, CommandState::refused, "the task was stopped"});
      }
      talk_.held.clear();
      return ask([](std::string_view id) { return interrupt_line(id, true); });
  }
}

// A message to the model. During a turn it is taken up after the running tool call; one for the next turn waits in the
// agent's own queue, or here when the agent is too old to have one with priorities.
void ClaudeCode::say(const Command& command, std::string_view text, bool next_turn, Actions& out) {
  if (next_turn && in_turn() && !new_protocol_) {
    talk_.held.push_back(command);
    out.settle({command.id, CommandState::accepted, "held for the next turn"});
    return;
  }
  std::string uuid = message_uuid(launched_.id, command.id);
  out.write(user_line(text, uuid, next_turn && in_turn() ? "later" : ""));
  talk_.messages.insert_or_assign(std::move(uuid), ClaudeMessage{command.id});
  out.settle({command.id, CommandState::delivered, ""});
}

void ClaudeCode::withdraw(std::string_view command_id) {
  std::erase_if(talk_.held, [&](const Command& held) { return held.id == command_id; });
}

void ClaudeCode::release_held(Actions& out) {
  while (!talk_.held.empty()) {
    Command next = std::move(talk_.held.front());
    talk_.held.pop_front();
    say(next, next.content, true, out);
  }
}

void ClaudeCode::answer_approval(const Command& command, Actions& out) {
  auto refuse = [&](std::string reason) { out.settle({command.id, CommandState::refused, std::move(reason)}); };
  const PendingAsk* found = talk_.approvals.find(command.approval_id);
  if (found == nullptr) return refuse("this approval is not open");
  if (!command.option.empty()) return refuse("this agent's approvals have no options; approve or deny without one");
  const PendingAsk& approval = *found;
  const std::string& id = command.approval_id;
  bool question = approval.kind == PendingAsk::Kind::question;
  std::string line;
  std::string_view state;
  if (command.kind == CommandKind::deny) {
    if (!command.remember.empty()) return refuse("this agent cannot remember a refusal");
    line = deny_line(id, command.message.empty() ? "An operator denied this." : command.message);
    state = "denied";
  } else if (command.kind == CommandKind::answer) {
    if (!question) return refuse("this approval is not a question; approve or deny it");
    line = allow_line(id, with_answers(approval.input, command.answers_json), "");
    state = "answered";
  } else {
    if (question && command.input_json.empty()) return refuse("this is a question; answer it");
    std::string rule;
    if (!command.remember.empty()) {
      auto known = permission_rule(command.remember);
      if (!known) return refuse("a rule to remember looks like Bash(npm test) or Read");
      rule = std::move(*known);
    }
    line = allow_line(id, command.input_json.empty() ? approval.input : command.input_json, rule);
    state = "approved";
  }
  talk_.approvals.decided(approval.call_id, command.id);
  close_approval(command.approval_id, state, command.message, out);
  out.write(line);
  out.settle({command.id, CommandState::delivered, ""});
  // An approval has no room for words; they follow as a message of their own.
  if (command.kind == CommandKind::approve && !command.message.empty()) {
    std::string uuid = message_uuid(launched_.id, command.id + "/message");
    out.write(user_line(command.message, uuid, ""));
    talk_.messages.insert_or_assign(std::move(uuid), ClaudeMessage{});
  }
}

}  // namespace shepherd
