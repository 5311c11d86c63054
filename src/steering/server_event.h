// The events that the server itself writes into a log: commands, their outcomes, and states it infers. A command is
// prepared before its transaction, because it can be long and redaction must not run on the writer's thread. The other
// events are short, hold no text that must be redacted, and follow from what the transaction finds, so they are made in
// it.
// Threads: value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/command.h"
#include "model/task.h"
#include "redact/redact.h"
#include "store/event_store.h"

namespace shepherd {

// A command as the operator sent it, and what it writes.
struct PreparedCommand {
  Command command;
  AppendRequest event;  // redacted, like everything that enters a log
  std::string reason;   // the command's, redacted
};
// invalid_argument/bad_command_id if redaction changes its id; too_large/event_too_large.
Result<PreparedCommand> prepare_command(const std::string& task, Command command, const Redactor* redactor,
                                        std::int64_t now_ms);
// `event_id` makes a repeat have no effect; if it is empty, the event is always new.
AppendRequest command_result_event(const std::string& task, std::string_view command_id, CommandState state,
                                   std::string_view reason, std::string_view event_id, std::int64_t now_ms);
// A state that the server infers. `members` are additional members of its data, as compact JSON without braces.
AppendRequest status_event(const std::string& task, State state, std::string_view message, std::string_view members,
                           std::string_view event_id, std::int64_t now_ms);

// Closes an approval whose deadline has passed while no runner has its task.
AppendRequest approval_expired_event(const std::string& task, std::string_view approval_id, std::string_view message,
                                     std::string_view event_id, std::int64_t now_ms);

// One line for people: "steer: look at the tests first".
std::string command_summary(const Command& command);

}  // namespace shepherd
