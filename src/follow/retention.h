// Retention by age and size: drops the oldest batches in small steps between other writes. A consumer that requests
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
  int days = kRetentionDays;              // 0 means forever
  std::uint64_t bytes = kRetentionBytes;  // maximum store size; 0 means no bound
};

// Runs one round: drops what is due, oldest first, in transactions of at most kRetentionBatchesPerStep batches, then
// calls done(more) with whether more is due by age. A running task keeps its newest batch. With an indexer, dropped
// events leave the search index first.
// Threads: any; blocks on store reads, so call it from a worker thread. done() runs there or on the writer's thread.
void retention_step(Journal& journal, const RetentionPolicy& policy, const Clock& clock,
                    std::move_only_function<void(Result<bool>)> done, Indexer* indexer = nullptr);

}  // namespace shepherd
