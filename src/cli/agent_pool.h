// Derives the options of the runner pool from the configuration, for `serve` and `shepherd runner`.
// Threads: value.
#pragma once

#include <cstddef>
#include <memory>

#include "base/clock.h"
#include "config/config.h"
#include "runner/runner_pool.h"

namespace shepherd {

// `config` must outlive the pool.
PoolOptions pool_options(const Config& config, std::size_t slots);

}  // namespace shepherd
