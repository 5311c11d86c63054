// Settings of steering: the keys under `runners`, `callbacks` and `hooks`.
// Threads: value.
#pragma once

#include <cstdint>
#include <string>

#include "steering/limits.h"
#include "steering/repo_token.h"

namespace shepherd {

struct CallbackConfig {
  std::string secret_file;  // empty: callback.secret in the data directory, made at the first start
  std::string secret;       // what it holds; signs callbacks
  std::int64_t attempts = kCallbackAttempts;
  std::int64_t threads = kCallbackThreads;
  bool sole_process = true;  // nobody else works on the same store: what an earlier process claimed is free
};

struct SteeringConfig {
  std::int64_t lease_seconds = kLeaseSeconds;
  std::int64_t timeout_grace_seconds = kTimeoutGraceSeconds;
  std::int64_t session_idle_seconds = kSessionIdleSeconds;  // 0: a silent session stays open
  CallbackConfig callbacks;
  RepoTokenConfig tokens;
};

}  // namespace shepherd
