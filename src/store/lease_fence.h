// The lease that an append is made under. A runner that lost its task must not write into its successor's log, above
// all not its end. Threads: value.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "model/task.h"

namespace shepherd {

struct LeaseFence {
  std::uint64_t epoch = 0;
};

inline Error lease_lost() {
  return {ErrorCode::conflict,
          "lease_lost",
          "This runner no longer has the task: its lease ended or went to another one. Stop the agent.",
          {}};
}

// Whether a runner has the task. The log says so: a claim names the runner, and a lease that ends writes another state.
inline bool is_leased(const TaskState& state) {
  return state.lease_epoch != 0 && state.state != State::queued && !is_terminal(state.state);
}

// Whether the task, as it is now, is still that lease's. Between two runners it is no lease's.
inline bool admits(const LeaseFence& fence, const TaskState& state) {
  if (state.lease_epoch != fence.epoch) return false;
  return state.state != State::queued;
}

}  // namespace shepherd
