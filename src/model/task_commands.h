// The part of the fold that concerns operators: commands and how they settle, what the agent asks, what it can do.
// Threads: value.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/task.h"

namespace shepherd {

struct FoldEvent;

void fold_command(TaskState& state, const FoldEvent& event);
void fold_command_result(TaskState& state, const FoldEvent& event);
void fold_approval(TaskState& state, const FoldEvent& event);
// A status event's capabilities, how the agent is confined, and who claimed the task when the server says so.
void fold_runner(TaskState& state, const FoldEvent& event);
// The task has ended: what was accepted and never delivered is refused, what was asked is no longer open.
void end_commands(TaskState& state);

const TaskCommand* find_command(const TaskState& state, std::string_view id);
const TaskApproval* find_approval(const TaskState& state, std::string_view id);

// Whether something may still become of it. `delivered` is the last word where the agent's stream does not show more.
bool is_open(const TaskState& state, const TaskCommand& command);
// Whether the agent takes commands of this kind; true while that is not known.
bool takes_command(const TaskState& state, CommandKind kind);
// The command that an approval got: accepted, delivered or acknowledged; nullptr: none.
const TaskCommand* answer_to(const TaskState& state, std::string_view approval_id);

}  // namespace shepherd
