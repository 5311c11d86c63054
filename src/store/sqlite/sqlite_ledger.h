// The ledger in a SQLite file of its own, beside the store: its transactions never wait for the store's.
// Threads: see Ledger.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "store/ledger.h"

namespace shepherd {

inline constexpr std::int64_t kLedgerFormat = 1;  // its PRAGMA user_version

// A file that is damaged (also when that showed only while it was in use), of another format or ahead of the store's
// newest position is set aside (.old) and begun anew from what the store still has. unavailable, storage_full.
Result<std::unique_ptr<Ledger>> open_sqlite_ledger(const std::string& path, std::uint64_t store_head);

}  // namespace shepherd
