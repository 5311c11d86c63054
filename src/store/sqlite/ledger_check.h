// The full check of a ledger, for `shepherd doctor`: slow, complete, and without changing anything.
// Threads: any.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace shepherd {

struct LedgerFacts {
  std::int64_t format = 0;
  std::uint64_t through = 0;  // position of the newest event in it
  std::int64_t since = 0;     // seconds since 1970 of its oldest figures; 0: it has none
  std::vector<std::string> problems;
};
// Reads all of it: SQLite's own structure, and that minutes and quarters of an hour add up to the same. Changes nothing
// and works while a server writes. Errors only when it cannot be opened or read at all.
Result<LedgerFacts> check_ledger(const std::string& file);

}  // namespace shepherd
