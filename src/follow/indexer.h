// Keeps the search index behind the store: reads committed events in position order and indexes them, on a thread of
// the lowest priority, so that ingest always comes first.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/metrics.h"
#include "store/event_store.h"
#include "store/search_index.h"

namespace shepherd {

// Owns its thread (SCHED_IDLE). The destructor stops after the current batch. Where retention left a gap, indexing
// goes on after it. When the store or the index fails, it waits kIndexRetry and tries again.
// Threads: any.
class Indexer {
 public:
  // Store and index must outlive it; nobody else may add to or remove from the index meanwhile.
  static std::unique_ptr<Indexer> start(const EventStore& store, SearchIndex& index, MetricRegistry& metrics);
  virtual ~Indexer() = default;
  virtual void wake() = 0;  // there is something new; cheap and lock-free, may be called per commit
  // Takes a task's events out of the index; called before the task is deleted from the store. What is appended to the
  // task between the two stays in the index until it is rebuilt: a search must skip positions that the store does not
  // have. Blocks: from a worker thread. On an idle-starved machine it waits for the batch under way.
  virtual Result<void> forget_task(const std::string& task) = 0;
  // The same for a task's events through a sequence; called before retention drops them.
  virtual Result<void> forget_through(const std::string& task, std::uint64_t sequence) = 0;
};

}  // namespace shepherd
