// Settings of callbacks: the keys under `callbacks`.
// Threads: value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "outbound/limits.h"

namespace shepherd {

struct CallbackConfig {
  std::string secret_file;  // empty for callback.secret in the data directory, created at the first start
  std::string secret;       // its content; signs callbacks
  std::int64_t attempts = kCallbackAttempts;
  std::size_t in_flight = kCallbacksInFlight;
  bool sole_process = true;  // no other process uses the store, so claims of earlier processes are void
};

}  // namespace shepherd
