// The error of every operation on a task that does not exist.
// Threads: value.
#pragma once

#include <string>

#include "base/result.h"

namespace shepherd {

inline std::unexpected<Error> unknown_task(const std::string& id) {
  return fail(ErrorCode::not_found, "unknown_task", "There is no task " + id + ".");
}

}  // namespace shepherd
