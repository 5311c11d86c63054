// What a dashboard finds after a busy month: thousands of tasks, a few of them under way, one long log, and a ledger of
// a million rows.
// Threads: caller.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/shepherd_server.h"

namespace shepherd::bench {

struct FleetSize {
  std::size_t tasks = 10'000;
  std::size_t active = 100;
  std::size_t approvals = 10;  // of the active ones, waiting for somebody
  std::size_t failed = 100;    // of those that have ended
};

struct Fleet {
  std::vector<std::string> active;
};

// Makes the tasks and posts their few events.
Result<Fleet> make_fleet(ShepherdServer& server, const FleetSize& size);

// Adds figures of the days before now to the ledger of a server that is stopped: as if four agents with five tools had
// worked in every minute, and `spans` tasks. How many rows it has then. unavailable/sqlite.
Result<std::uint64_t> fill_ledger(const std::filesystem::path& ledger, int days, std::size_t spans);

}  // namespace shepherd::bench
