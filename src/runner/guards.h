// What a task may use: its time, its turns and its budget. Agents with their own bounds end by themselves before these.
// Threads: value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "driver/driver.h"
#include "runner/step.h"
#include "runner/task_order.h"

namespace shepherd {

struct Breach {
  EndCause cause = EndCause::none;
  std::string_view code;  // of the `error` event
  std::string message;
};

// The bound that the task is over; nullopt if none.
std::optional<Breach> breach_of(const TaskOrder& order, const Hints& hints, const AgentTraits& traits,
                                std::int64_t elapsed_ms);

// What a person should know at the agent's start about the task's bounds; empty: the agent keeps them by its own means.
std::string remark_on_bounds(const TaskOrder& order, const AgentTraits& traits);

}  // namespace shepherd
