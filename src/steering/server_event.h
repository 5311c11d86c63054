// The events the server itself writes into a log: commands, what became of them, what it infers about a task.
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

// A command as the operator gave it, redacted like everything that enters a log. invalid_argument/bad_command_id when
// its id does not survive that; too_large/event_too_large.
Result<AppendRequest> command_event(const std::string& task, const Command& command, const Redactor* redactor,
                                    std::int64_t now_ms);
// `event_id` makes it happen once; empty: always new.
AppendRequest command_result_event(const std::string& task, std::string_view command_id, CommandState state,
                                   std::string_view reason, std::string_view event_id, std::int64_t now_ms);
// A state the server infers. `members` are more members of its data, compact JSON without braces; empty: none.
AppendRequest status_event(const std::string& task, State state, std::string_view message, std::string_view members,
                           std::string_view event_id, std::int64_t now_ms);

// An approval that is no longer open because its deadline has passed and no runner has its task.
AppendRequest approval_expired_event(const std::string& task, std::string_view approval_id, std::string_view message,
                                     std::string_view event_id, std::int64_t now_ms);

// One line for people: "steer: look at the tests first".
std::string command_summary(const Command& command);

}  // namespace shepherd
