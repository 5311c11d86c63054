// Follows a task's log until a command has settled.
//
// `delivered` is final if the agent's own stream cannot show that it acted on the command; otherwise the wait continues
// until `acknowledged`. A command that is only delivered at the deadline is reported as delivered.
// Threads: caller.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "client/live_client.h"
#include "model/command.h"

namespace shepherd {

struct CommandWait {
  std::string task;
  std::string id;              // of the command
  std::uint64_t sequence = 0;  // of its event
  CommandKind kind = CommandKind::steer;
  bool acknowledged_later = false;  // the agent's stream shows when it acts on a command of this kind
  std::chrono::milliseconds most{};
};

struct Settled {
  CommandState state = CommandState::accepted;  // accepted if nothing happened during the wait
  std::string reason;
  bool task_ended = false;  // before the command settled
};

// Whether a task's agent (from the task's JSON) acknowledges commands of this kind.
bool acknowledges(std::string_view task_json, CommandKind kind);

// Errors: those of LiveClient.
Result<Settled> wait_for_command(Locate locate, const CommandWait& wait, const Clock& clock, Random& random,
                                 net::ClientTls tls = {});

}  // namespace shepherd
