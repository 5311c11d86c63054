// What leaves the ledger with time, and for want of room.
// Threads: the connection's.
#pragma once

#include "base/result.h"
#include "sqlite/database.h"
#include "store/ledger.h"

namespace shepherd {

// One step, inside the caller's transaction: at most a day of figures, kTrimRows tasks and findings. True: there is
// more. Pages become free for reuse; the file does not shrink.
Result<bool> trim_ledger(Database& database, const LedgerKeep& keep);

}  // namespace shepherd
