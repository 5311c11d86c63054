// The ledger in its own SQLite file beside the store, so that its transactions never wait for the store's.
// Threads: see Ledger.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "store/ledger.h"

namespace shepherd {

inline constexpr std::int64_t kLedgerFormat = 1;  // its PRAGMA user_version

// Opens the ledger. A file that is damaged (even if that was only found while in use), of another format or ahead of
// the store's newest position is set aside (.old) and rebuilt from what the store still has. unavailable, storage_full.
Result<std::unique_ptr<Ledger>> open_sqlite_ledger(const std::string& path, std::uint64_t store_head);

}  // namespace shepherd
