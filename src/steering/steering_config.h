// Settings of steering: the keys under `runners`, `callbacks` and `hooks`.
// Threads: value.
#pragma once

#include <cstdint>

#include "outbound/callback_config.h"
#include "outbound/repo_token.h"
#include "steering/limits.h"

namespace shepherd {

struct SteeringConfig {
  std::int64_t lease_seconds = kLeaseSeconds;
  std::int64_t timeout_grace_seconds = kTimeoutGraceSeconds;
  std::int64_t session_idle_seconds = kSessionIdleSeconds;  // 0 keeps a silent session open
  CallbackConfig callbacks;
  RepoTokenConfig tokens;
};

}  // namespace shepherd
