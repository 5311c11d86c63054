// The fold: a task's state is a pure function of its log.
// Threads: value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/event_type.h"
#include "model/task.h"

namespace shepherd {

// One event as the fold sees it. Views must live only during the call.
struct FoldEvent {
  std::uint64_t sequence = 0;
  EventType type = EventType::other;
  std::int64_t received_ms = 0;
  std::string_view summary;  // JSON-escaped
  std::string_view body;     // JSON members without braces, as in Draft
  bool late = false;         // after an inferred end: counted, but the state stays
  bool by_server = false;    // a status the server inferred (runner lost, timeout)
};

// Applies the next event; sequence must be last_sequence + 1. Types that carry no state are never parsed. A body
// member of the wrong type is ignored: the log is the truth, the fold only reads it.
void fold(TaskState& state, const FoldEvent& event);

// The terminal state that this draft would bring, without applying it; running when it would not end the task.
State end_state_of(EventType type, std::string_view body);

// TaskState <-> JSON, for a store's projection column. decode accepts what any earlier version wrote.
std::string encode_task_state(const TaskState& state);
TaskState decode_task_state(std::string_view json);

}  // namespace shepherd
