// Settings of steering: the keys under `runners` and `callbacks`.
// Threads: value.
#pragma once

#include <cstdint>

#include "base/limits.h"

namespace shepherd {

struct SteeringConfig {
  std::int64_t lease_seconds = kLeaseSeconds;
  std::int64_t timeout_grace_seconds = kTimeoutGraceSeconds;
};

}  // namespace shepherd
