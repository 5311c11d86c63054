// A log to read: written by a load, and indexed, so that reading it is measured by itself.
// Threads: caller.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "bench/load.h"
#include "bench/shepherd_server.h"

namespace shepherd::bench {

// A task with a log of so many events.
struct WrittenLog {
  std::string task;
  LoadResult load;
};
Result<WrittenLog> write_log(ShepherdServer& server, std::uint64_t events, std::size_t publishers);
// So many more events of a task that is there.
Result<LoadResult> write_to(ShepherdServer& server, const std::string& task, std::uint64_t events,
                            std::size_t publishers);

// Until the search index, which works behind the commits, has caught up. unavailable/index_behind.
Result<void> wait_for_index(ShepherdServer& server);
// Likewise the ledger.
Result<void> wait_for_ledger(ShepherdServer& server);

}  // namespace shepherd::bench
