// What becomes of a command: follows the task's log until the command has settled.
//
// `delivered` is the last word where the agent's own stream cannot show that it took the command up; where it can, the
// wait goes on to `acknowledged`. A command that is still only delivered when the time is over is told as that.
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
  bool acknowledged_later = false;  // the agent's stream shows when it takes a command of this kind up
  std::chrono::milliseconds most{};
};

struct Settled {
  CommandState state = CommandState::accepted;  // accepted: nothing became of it while we waited
  std::string reason;
  bool task_ended = false;  // before the command settled
};

// Whether the agent of a task (its JSON) shows that it took up commands of this kind.
bool acknowledges(std::string_view task_json, CommandKind kind);

// Errors: those of LiveClient.
Result<Settled> wait_for_command(Locate locate, const CommandWait& wait, const Clock& clock, Random& random,
                                 net::ClientTls tls = {});

}  // namespace shepherd
