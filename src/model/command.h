// A command is an operator's request to a running task. This file also describes how a command settles.
//
// The same JSON object `{"id","kind",…}`, with the members of its kind, is the body of POST …/{id}/commands, the `data`
// of a `command` event and what a runner reads from its feed. command.cpp has the names.
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

// accepted (in the log) -> delivered (given to the agent) -> acknowledged (the agent's own stream confirms it) |
// refused | expired.
enum class CommandState : std::uint8_t { accepted, delivered, acknowledged, refused, expired };
std::string_view name(CommandState state);
std::optional<CommandState> command_state(std::string_view name);

// Decides whether a tool may run: the agent's own rules (autonomous) or an operator (interactive).
enum class AgentMode : std::uint8_t { autonomous, interactive };
std::string_view name(AgentMode mode);
std::optional<AgentMode> agent_mode(std::string_view name);

struct Command {
  std::string id;
  CommandKind kind = CommandKind::steer;
  std::string content;                     // steer, queue
  std::string metadata_json;               // steer, queue: an object, or empty
  std::string reason;                      // interrupt, stop
  std::string guidance;                    // resume; may be empty
  AgentMode mode = AgentMode::autonomous;  // set_mode
  std::string approval_id;                 // approve, deny, answer
  std::string input_json;                  // approve: the tool's input as changed by the operator; empty: unchanged
  std::string message;                     // approve, deny: a message to the agent
  std::string remember;  // approve, deny: a rule to remember, e.g. "Bash(npm test)"; empty: decide only this time
  std::string option;    // approve, deny: one of the approval's options, by its id or its name; empty: any that fits
  std::string answers_json;  // answer: an object, question -> answer
  std::string by;            // name of the person, set by the server
  std::int64_t expires_seconds = kCommandExpirySeconds;
};

// Reads a request body, the `data` of a `command` event, or the WebSocket form `{"type":kind,"id","data":{…}}`. Unknown
// members are ignored. Errors: invalid_argument naming a missing or mistyped member; invalid_argument / unknown_kind;
// too_large above kMaxCommandBytes. A missing id stays empty.
Result<Command> decode_command(std::string_view json);

// Writes the `data` object of a `command` event, which decode_command can read.
std::string encode_command(const Command& command);

// Writes the `data` object of a `command_result` event: {"id","state"[,"reason"]}.
std::string encode_command_result(std::string_view id, CommandState state, std::string_view reason);

}  // namespace shepherd
