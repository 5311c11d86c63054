#include "driver/stand_still.h"

#include <utility>

#include "driver/event_json.h"

namespace shepherd {
namespace {

void report(std::int64_t now_ms, std::string_view session, std::string_view state, std::string_view summary,
            Actions& out) {
  std::string data = R"({"state":")" + std::string(state) + "\"}";
  EventParts parts;
  parts.type = EventType::status;
  parts.timestamp_ms = now_ms;
  parts.summary = summary;
  parts.data = data;
  parts.session_id = session;
  add_event(out, parts);
}

constexpr std::uint32_t command_bit(CommandKind kind) {
  return 1U << static_cast<unsigned>(kind);
}

}  // namespace

std::uint32_t StandStill::commands() {
  return command_bit(CommandKind::interrupt) | command_bit(CommandKind::resume) | command_bit(CommandKind::stop);
}

void StandStill::command(const Command& command, std::int64_t now_ms, std::string_view session, Actions& out) {
  auto refuse = [&](std::string_view reason) { out.settle({command.id, CommandState::refused, std::string(reason)}); };
  switch (command.kind) {
    case CommandKind::interrupt:
      if (paused_) return refuse("already paused");
      paused_ = true;
      out.pause();
      report(now_ms, session, "paused", "Paused", out);
      break;
    case CommandKind::resume:
      if (!paused_) return refuse("not paused");
      if (!command.guidance.empty()) return refuse(deaf_);
      paused_ = false;
      out.resume();
      report(now_ms, session, "running", "Resumed", out);
      break;
    case CommandKind::stop:
      stopping_ = true;  // it cannot be told; the ladder ends it
      paused_ = false;
      break;
    default:
      return refuse(deaf_);
  }
  out.settle({command.id, CommandState::delivered, ""});
}

}  // namespace shepherd
