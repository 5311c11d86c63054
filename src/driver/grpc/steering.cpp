// What operators ask of a streaming agent, and how it settles.
#include <algorithm>
#include <utility>

#include "driver/event_json.h"
#include "driver/grpc/grpc_agent.h"
#include "driver/grpc/record_frames.h"
#include "gibson/agent.pb.h"
#include "json/scan.h"

namespace shepherd {
namespace {

constexpr std::uint32_t bit(CommandKind kind) {
  return 1U << static_cast<unsigned>(kind);
}

// Values that are no text go as their JSON: the protocol has texts only.
void take_metadata(const Command& command, gibson::agent::SteeringMessage& steering) {
  auto& metadata = *steering.mutable_metadata();
  JsonMembers members(command.metadata_json);
  while (members.next()) {
    auto key = unescape(members.key());
    if (!key) continue;
    metadata[*key] = string_value(members.value()).value_or(std::string(members.value()));
  }
  if (!command.by.empty()) metadata.insert({"operator", command.by});
}

}  // namespace

Capabilities GrpcAgent::capabilities() const {
  Capabilities can;
  can.acknowledges = bit(CommandKind::steer) | bit(CommandKind::interrupt) | bit(CommandKind::resume);
  can.commands = can.acknowledges | bit(CommandKind::set_mode) | bit(CommandKind::stop);
  can.deltas = deltas_;
  return can;
}

AgentTraits GrpcAgent::traits() const {
  AgentTraits traits;
  traits.model = Means::own;
  traits.modes = Means::own;
  traits.max_turns = Means::own;
  traits.budget = Means::own;
  return traits;
}

void GrpcAgent::say(const gibson::agent::ClientMessage& message, Actions& out) {
  std::string frame;
  append_frame(frame, message.SerializeAsString());
  out.write(frame);
}

// It waits for the agent's own word.
void GrpcAgent::open(const Command& command, Actions& out) {
  open_.push_back({command.id, command.kind, now_ms_ + command.expires_seconds * 1'000, command.expires_seconds});
  out.settle({command.id, CommandState::delivered, ""});
}

void GrpcAgent::command(const Command& command, std::int64_t now_ms, Actions& out) {
  now_ms_ = now_ms;
  auto refuse = [&](std::string reason) { out.settle({command.id, CommandState::refused, std::move(reason)}); };
  gibson::agent::ClientMessage message;
  switch (command.kind) {
    case CommandKind::steer: {
      auto& steering = *message.mutable_steering();
      steering.set_id(command.id);
      steering.set_content(command.content);
      take_metadata(command, steering);
      say(message, out);
      return open(command, out);
    }
    case CommandKind::interrupt:
      if (said_ == Said::interrupted) return refuse("the agent is interrupted already");
      message.mutable_interrupt()->set_reason(command.reason);
      say(message, out);
      return open(command, out);
    case CommandKind::resume:
      if (hints_.turn != Hints::Turn::waiting) return refuse("the agent is not interrupted");
      message.mutable_resume()->set_guidance(command.guidance);
      say(message, out);
      return open(command, out);
    case CommandKind::set_mode:
      message.mutable_set_mode()->set_mode(command.mode == AgentMode::interactive
                                               ? gibson::agent::AGENT_MODE_INTERACTIVE
                                               : gibson::agent::AGENT_MODE_AUTONOMOUS);
      say(message, out);
      break;
    case CommandKind::stop:
      stopping_ = true;
      if (hints_.turn == Hints::Turn::idle || said_ == Said::interrupted) {
        out.close_input();  // it has nothing left to interrupt
      } else {
        message.mutable_interrupt()->set_reason(command.reason.empty() ? "stopped" : command.reason);
        say(message, out);
      }
      break;
    default:
      return refuse("a streaming agent cannot be asked this");
  }
  out.settle({command.id, CommandState::delivered, ""});
}

void GrpcAgent::steering_ack(Actions& out) {
  const auto& ack = message_->steering_ack();
  auto found = std::ranges::find_if(
      open_, [&](const Open& each) { return each.kind == CommandKind::steer && each.id == ack.message_id(); });
  if (found == open_.end()) {
    EventParts parts = step(EventType::log);
    std::string summary = "The agent acknowledged a message that does not wait for it: " + ack.message_id();
    parts.summary = summary;
    parts.data = R"({"stream":"grpc"})";
    return add_event(out, parts, Detail().raw_json(json_).take());
  }
  out.settle({found->id, CommandState::acknowledged, std::string(event_text(ack.response())),
              Detail().raw_json(json_).take()});
  open_.erase(found);
}

void GrpcAgent::settle(CommandKind kind, Actions& out) {
  std::erase_if(open_, [&](const Open& each) {
    if (each.kind != kind) return false;
    out.settle({each.id, CommandState::acknowledged, last_status_});
    return true;
  });
}

void GrpcAgent::expire(Actions& out) {
  std::erase_if(open_, [&](const Open& each) {
    if (each.expires_ms > now_ms_) return false;
    out.settle({each.id, CommandState::expired,
                "the agent did not acknowledge it within " + std::to_string(each.seconds) + " s"});
    return true;
  });
}

}  // namespace shepherd
