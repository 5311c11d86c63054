// What was said to Claude Code on its standard input and is not settled yet, and the exact lines that say it.
// Threads: value.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "driver/pending.h"
#include "model/command.h"

namespace shepherd {

// A control request of ours that the agent has not answered.
struct ClaudeRequest {
  std::string command_id;
  CommandKind kind = CommandKind::interrupt;
  AgentMode mode = AgentMode::autonomous;
};

// A word of ours to the model: a prompt, a steered or a queued message. It is through when the turn that has it is
// over.
struct ClaudeMessage {
  std::string command_id;  // empty: the prompt, or words that came with an approval
  bool listed = false;     // the agent tells its life cycle, so it will also say when it is through
  bool taken_up = false;
};

struct ClaudeTalk {
  PendingAsks approvals;                                       // what it asked an operator
  std::map<std::string, ClaudeRequest, std::less<>> requests;  // by our request id
  std::map<std::string, ClaudeMessage, std::less<>> messages;  // by our uuid, until they are through
  std::deque<Command> held;                                    // for the next turn
  std::uint64_t next_request = 1;

  std::string new_request_id() { return "shepherd-" + std::to_string(next_request++); }
};

// A message id made from the launch and the command, so that saying a command twice is one message to the agent.
std::string message_uuid(std::string_view launch_id, std::string_view command_id);

// Lines for the agent's standard input, each with its newline.
std::string user_line(std::string_view text, std::string_view uuid, std::string_view priority);
std::string interrupt_line(std::string_view request_id, bool cancel_queued);
std::string permission_mode_line(std::string_view request_id, std::string_view mode);
std::string allow_line(std::string_view request_id, std::string_view input, std::string_view rule_json);
std::string deny_line(std::string_view request_id, std::string_view message);
std::string response_line(std::string_view request_id, std::string_view content);  // `content`: compact JSON
std::string error_response_line(std::string_view request_id, std::string_view error);

// "Bash(npm test)" or "Read" as the agent's own permission rule object; nullopt when it is not of that form.
std::optional<std::string> permission_rule(std::string_view rule);

}  // namespace shepherd
