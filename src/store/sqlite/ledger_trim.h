// Trims the ledger by age and by size.
// Threads: the connection's.
#pragma once

#include "base/result.h"
#include "sqlite/database.h"
#include "store/ledger.h"

namespace shepherd {

// Makes one step inside the caller's transaction: at most a day of figures, kTrimRows tasks and findings. Returns true
// if there is more to trim. Pages become free for reuse; the file does not shrink.
Result<bool> trim_ledger(Database& database, const LedgerKeep& keep);

}  // namespace shepherd
