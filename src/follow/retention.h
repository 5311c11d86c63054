// Retention by age and size: drops the oldest batches, in small steps between other writes. A consumer that asks for
// dropped events gets a `gap`.
#pragma once

#include <cstdint>
#include <functional>

#include "base/clock.h"
#include "follow/indexer.h"
#include "follow/limits.h"
#include "journal/journal.h"

namespace shepherd {

struct RetentionPolicy {
  int days = kRetentionDays;              // 0: forever
  std::uint64_t bytes = kRetentionBytes;  // store size to keep under; 0: no bound
};

// One round: drops what is due, oldest first, in transactions of at most kRetentionRunsPerStep runs, then calls
// done(more) with whether more is due by age. A task that still runs keeps its newest batch. With an indexer, what is
// dropped leaves the search index first.
// Threads: any; blocks on store reads, so call it from a worker thread. done() runs there or on the writer's thread.
void retention_step(Journal& journal, const RetentionPolicy& policy, const Clock& clock,
                    std::move_only_function<void(Result<bool>)> done, Indexer* indexer = nullptr);

}  // namespace shepherd
