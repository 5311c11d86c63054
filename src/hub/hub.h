// The hub caches the newest events of watched logs, framed once per transport, and wakes their feeds. Losing it loses
// no data: a feed that does not find its next number here reads the store.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "hub/limits.h"
#include "hub/tail.h"
#include "store/event_batch.h"

namespace shepherd {

// Threads: any. The hub never blocks on I/O and never calls consumers directly: wake() posts to their executors.
class Hub {
 public:
  Hub(const Clock& clock, MetricRegistry& metrics, std::size_t task_events = kTailEvents);

  // The tail of a task's log, or of all logs for "". Created on first use; it contains events published from then on.
  std::shared_ptr<Tail> tail(const std::string& task) EXCLUDES(mutex_);

  // Committed batches in commit order. Idempotent by number; one that leaves a hole restarts the tail after the hole.
  // In two steps: a reader after take_in() finds the batches; wake() calls the waiters.
  // Wakes: executors, each with the tails that have something for it.
  using Wakes = std::vector<std::pair<Executor*, std::vector<std::shared_ptr<Tail>>>>;
  [[nodiscard]] Wakes take_in(std::span<const BatchPtr> batches) EXCLUDES(mutex_);
  static void wake(Wakes wakes);
  // Both steps for one log alone ("" for the log of all tasks), with batches that a replica read from the store.
  void publish_to(const std::string& task, std::span<const BatchPtr> batches) EXCLUDES(mutex_);
  void publish_delta(const std::string& task, const std::string& data) EXCLUDES(mutex_);
  // The number of the newest live text of any task.
  std::uint64_t newest_delta() const { return deltas_.load(std::memory_order_acquire); }
  // The newest number in the tail, 0 if it is unknown; nullopt if there is no tail.
  std::optional<std::uint64_t> head(const std::string& task) const EXCLUDES(mutex_);
  // The store reaches `head` in this log (Tail::advance_head); ignored when the log is not watched.
  void advance_head(const std::string& task, std::uint64_t head, const std::string& complete) EXCLUDES(mutex_);
  // Called when the task was deleted.
  void forget_deleted(const std::string& task) EXCLUDES(mutex_);
  // Events of the task were dropped from the store: from now on they are in no tail either, its own or that of all
  // tasks.
  void evict(const std::string& task) EXCLUDES(mutex_);

  // Watched tasks (and "" if all logs are watched), for repairing lost hints.
  std::vector<std::string> watched() const EXCLUDES(mutex_);

  // Drops tails that are not held and have lingered; frees the least recently used bytes beyond kHubBytes.
  void age() EXCLUDES(mutex_);

 private:
  struct Kept {
    std::shared_ptr<Tail> tail;
    std::int64_t used_ms;  // when it was last asked for or published to
    std::int64_t held_ms;  // when it was last seen to be held
  };
  static void collect(Wakes& wakes, const std::shared_ptr<Tail>& tail, const std::vector<Executor*>& executors);
  static void drain(Executor* executor, std::vector<std::shared_ptr<Tail>> tails);
  std::shared_ptr<Tail> find(const std::string& task) const EXCLUDES(mutex_);

  const Clock& clock_;
  std::atomic<std::uint64_t> deltas_{0};
  const std::size_t task_events_;  // maximum number of newest events kept per task
  Counter& published_;
  Gauge& bytes_;
  Gauge& tails_count_;
  mutable Mutex mutex_;
  std::unordered_map<std::string, Kept> tails_ GUARDED_BY(mutex_);
};

}  // namespace shepherd
