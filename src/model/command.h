// A command: what an operator asks of a running task, and how it settles.
//
// The same JSON object is what POST …/{id}/commands takes, what the `data` of a `command` event holds and what a runner
// reads from its feed: `{"id","kind",…}` with the members of its kind. wire names live in command.cpp.
// Threads: value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/limits.h"

namespace shepherd {

enum class CommandKind : std::uint8_t { steer, queue, interrupt, resume, set_mode, approve, deny, answer, stop };
inline constexpr std::size_t kCommandKinds = 9;
std::string_view name(CommandKind kind);
std::optional<CommandKind> command_kind(std::string_view name);

// accepted (in the log) -> delivered (given to the agent) -> acknowledged (its own stream shows it) | refused |
// expired.
enum class CommandState : std::uint8_t { accepted, delivered, acknowledged, refused, expired };
std::string_view name(CommandState state);
std::optional<CommandState> command_state(std::string_view name);

// Who decides about a tool that needs permission: the agent's own rules, or an operator.
enum class AgentMode : std::uint8_t { autonomous, interactive };
std::string_view name(AgentMode mode);
std::optional<AgentMode> agent_mode(std::string_view name);

struct Command {
  std::string id;
  CommandKind kind = CommandKind::steer;
  std::string content;                     // steer, queue
  std::string metadata_json;               // steer, queue: an object; empty: none
  std::string reason;                      // interrupt, stop
  std::string guidance;                    // resume; may be empty
  AgentMode mode = AgentMode::autonomous;  // set_mode
  std::string approval_id;                 // approve, deny, answer
  std::string input_json;                  // approve: the tool's input as the operator changed it; empty: unchanged
  std::string message;                     // approve, deny: a word to the agent
  std::string remember;                    // approve, deny: one rule, e.g. "Bash(npm test)"; empty: this once
  std::string answers_json;                // answer: an object, question -> answer
  std::string by;                          // the person's name; the server sets it
  std::int64_t expires_seconds = kCommandExpirySeconds;
};

// A request body, the `data` of a `command` event, or the WebSocket form `{"type":kind,"id","data":{…}}`. Unknown
// members are ignored; a missing or mistyped member of the kind is invalid_argument naming it; an unknown kind is
// invalid_argument / unknown_kind; more than kMaxCommandBytes is too_large. A missing id stays empty.
Result<Command> decode_command(std::string_view json);

// The object of a `command` event's `data`. decode_command reads it back.
std::string encode_command(const Command& command);

// The object of a `command_result` event's `data`: {"id","state"[,"reason"]}.
std::string encode_command_result(std::string_view id, CommandState state, std::string_view reason);

}  // namespace shepherd
