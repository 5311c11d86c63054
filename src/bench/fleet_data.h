// The data of a busy month, for the dashboard: thousands of tasks, a few of them active, one long log, and a ledger of
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
  std::size_t approvals = 10;  // active tasks that wait for an approval
  std::size_t failed = 100;    // ended tasks that failed
};

struct Fleet {
  std::vector<std::string> active;
};

// Creates the tasks and posts their few events.
Result<Fleet> make_fleet(ShepherdServer& server, const FleetSize& size);

// Adds figures for the days before now to the ledger of a stopped server: four agents with five tools that worked in
// every minute, and `spans` tasks. Returns the number of rows in the ledger. unavailable/sqlite.
Result<std::uint64_t> fill_ledger(const std::filesystem::path& ledger, int days, std::size_t spans);

}  // namespace shepherd::bench
