// A log that a load has written and the server has indexed, so that reading it can be measured alone.
// Threads: caller.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "bench/load.h"
#include "bench/shepherd_server.h"

namespace shepherd::bench {

// A task with a log of the requested length.
struct WrittenLog {
  std::string task;
  LoadResult load;
};
Result<WrittenLog> write_log(ShepherdServer& server, std::uint64_t events, std::size_t publishers);
// Appends `events` more events to an existing task.
Result<LoadResult> write_to(ShepherdServer& server, const std::string& task, std::uint64_t events,
                            std::size_t publishers);

// Waits until the search index, which runs after the commits, has caught up. unavailable/index_behind.
Result<void> wait_for_index(ShepherdServer& server);
// The same for the ledger.
Result<void> wait_for_ledger(ShepherdServer& server);

}  // namespace shepherd::bench
