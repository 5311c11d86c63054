// The error for an invalid setting.
// Threads: value.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace shepherd {

inline std::unexpected<Error> bad_config(std::string message) {
  return fail(ErrorCode::invalid_argument, "bad_config", std::move(message));
}

}  // namespace shepherd
