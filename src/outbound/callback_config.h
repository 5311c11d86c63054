// Settings of callbacks: the keys under `callbacks`.
// Threads: value.
#pragma once

#include <cstdint>
#include <string>

#include "outbound/limits.h"

namespace shepherd {

struct CallbackConfig {
  std::string secret_file;  // empty: callback.secret in the data directory, made at the first start
  std::string secret;       // what it holds; signs callbacks
  std::int64_t attempts = kCallbackAttempts;
  std::int64_t threads = kCallbackThreads;
  bool sole_process = true;  // no other process works on the same store: what an earlier one claimed is free
};

}  // namespace shepherd
