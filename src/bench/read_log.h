// Consumers that read existing logs, from the start or from where they stopped.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "bench/load.h"

namespace shepherd::bench {

struct LogRead {
  double seconds = 0;  // from the connection's start to the last event
  std::uint64_t events = 0;
  Defects defects;
  bool clean = false;
};

// Reads what `written` has sent. Each consumer starts at event `first` of each stream of its channel. Ends with the
// last event, or incomplete after this many seconds.
// Threads: caller.
Result<LogRead> read_log(SubscribePlan plan, const LoadResult& written, std::uint32_t first, double seconds);

}  // namespace shepherd::bench
