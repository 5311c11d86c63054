// The part of the fold that concerns operators: commands and how they settle, open approvals, the agent's capabilities.
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
// Reads a status event's capabilities, the agent's confinement, and, if the server wrote the event, the runner that
// claimed the task.
void fold_runner(TaskState& state, const FoldEvent& event);
// Called at the task's end: refuses commands that were accepted but never delivered, and closes open approvals.
void end_commands(TaskState& state);

const TaskCommand* find_command(const TaskState& state, std::string_view id);
const TaskApproval* find_approval(const TaskState& state, std::string_view id);

// Whether the command's state may still change. `delivered` is final if the agent's stream does not report more.
bool is_open(const TaskState& state, const TaskCommand& command);
// Whether the agent accepts commands of this kind; true while its capabilities are unknown.
bool takes_command(const TaskState& state, CommandKind kind);
// The command that answers an approval (accepted, delivered or acknowledged); nullptr if there is none.
const TaskCommand* answer_to(const TaskState& state, std::string_view approval_id);

}  // namespace shepherd
