// The full check of a ledger, for `shepherd doctor`: slow, complete and read-only.
// Threads: any.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace shepherd {

struct LedgerFacts {
  std::int64_t format = 0;
  std::uint64_t through = 0;  // position of the newest event in the ledger
  std::int64_t since = 0;     // time of the oldest figures, in seconds since 1970; 0: none
  std::vector<std::string> problems;
};
// Reads the whole ledger. Checks SQLite's own structure, and that figures by minute and by quarter of an hour have the
// same sums. Works while a server writes. Fails only if the ledger cannot be opened or read at all.
Result<LedgerFacts> check_ledger(const std::string& file);

}  // namespace shepherd
