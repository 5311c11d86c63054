// Updates the search index after the store: reads committed events in position order and indexes them on a thread of
// the lowest priority, so that ingest always comes first.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/metrics.h"
#include "base/mutex.h"
#include "base/result.h"
#include "follow/wake_signal.h"
#include "store/event_store.h"
#include "store/search_index.h"

namespace shepherd {

// Owns its thread (nice 19). The destructor stops after the current batch. Indexing continues after a gap that
// retention left. If the store or the index fails, it waits kIndexRetry and tries again.
// Threads: any.
class Indexer {
 public:
  // Store and index must outlive it; no other component may change the index meanwhile.
  Indexer(const EventStore& store, SearchIndex& index, MetricRegistry& metrics);
  ~Indexer();
  Indexer(const Indexer&) = delete;
  Indexer& operator=(const Indexer&) = delete;

  void wake() { wake_.set(); }  // new events were committed; cheap and lock-free, so it may be called per commit
  // Removes a task's events from the index; call it before the task is deleted from the store. Events appended between
  // the two stay in the index until it is rebuilt, so a search must skip positions that the store lacks. Blocks, so
  // call it on a worker thread; on a busy machine it waits for the current batch of that thread.
  Result<void> forget_task(const std::string& task) EXCLUDES(mutex_);
  // The same for a task's events through a sequence; called before retention drops them.
  Result<void> forget_through(const std::string& task, std::uint64_t sequence) EXCLUDES(mutex_);

 private:
  // Events of a task that must not enter the index any more.
  struct Forgotten {
    std::uint64_t sequence = 0;  // the last of them, by the task's own numbers
    std::uint64_t position = 0;  // the newest position at that time; later events are not affected
  };

  void run() EXCLUDES(mutex_);
  Result<void> purge() EXCLUDES(mutex_);
  // Indexes one batch; returns false if nothing is left.
  Result<bool> step() EXCLUDES(mutex_);
  // Appends the events of a batch after position `after` and through sequence `through`.
  static void append_entries(std::vector<SearchEntry>& entries, const EventBatch& batch, std::uint64_t after,
                             std::uint64_t through);
  void leave_out_forgotten(std::vector<SearchEntry>& entries, const std::vector<BatchPtr>& batches) REQUIRES(mutex_);
  Result<void> remove(const std::string& task, std::uint64_t through) REQUIRES(mutex_);

  const EventStore& store_;
  SearchIndex& index_;
  Gauge& position_;
  Gauge& lag_;
  Counter& failures_;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> purge_{false};  // tasks were deleted since the last purge
  std::uint64_t head_ = 0;          // newest position at the last look; owned by the thread
  WakeSignal wake_;
  WakeSignal retry_;                                               // set only to stop
  Mutex mutex_;                                                    // held while the index changes
  std::map<std::string, Forgotten> forgotten_ GUARDED_BY(mutex_);  // kept until the index has passed their position
  std::thread thread_;                                             // last, because it uses all of the above
};

}  // namespace shepherd
