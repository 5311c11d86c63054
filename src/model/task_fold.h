// The fold computes a task's state, which is a pure function of its log.
// Threads: value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/event_type.h"
#include "model/task.h"

namespace shepherd {

// One event as the fold sees it. The views need to be valid only during the call.
struct FoldEvent {
  std::uint64_t sequence = 0;
  EventType type = EventType::other;
  std::int64_t received_ms = 0;
  std::string_view summary;  // JSON-escaped
  std::string_view body;     // JSON members without braces, as in Draft
  bool late = false;         // came after the end; counted, but does not change the state
  bool by_server = false;    // the server inferred this status (runner lost, timeout)
};

// Applies the next event; sequence must be last_sequence + 1. Events whose type carries no state are not parsed. A body
// member of the wrong type is ignored, because the log is the truth and cannot be rejected here.
void fold(TaskState& state, const FoldEvent& event);

// The terminal state that this draft would lead to; running if it would not end the task. Applies nothing.
State end_state_of(EventType type, std::string_view body);

// TaskState <-> JSON, for a store's projection column. decode accepts the output of every earlier version.
std::string encode_task_state(const TaskState& state);
TaskState decode_task_state(std::string_view json);

}  // namespace shepherd
