// The journal: one way in (append) and one way out (open_feed). Appends complete after their commit; then the hub is
// told, then the bus. One task's appends keep their order.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/executor.h"
#include "base/metrics.h"
#include "base/result.h"
#include "bus/bus.h"
#include "hub/hub.h"
#include "journal/feed.h"
#include "journal/writer.h"
#include "store/event_store.h"

namespace shepherd {

// Completions run on the writer's thread and must not block; a net::Responder may be used there.
template <class T>
using Done = std::move_only_function<void(Result<T>)>;

// Threads: any.
class Journal {
 public:
  // All references must outlive the journal, but `workers` must have run what was posted before the journal goes.
  // threaded false: nothing commits by itself, the owner calls step() (simulation).
  Journal(EventStore& store, Hub& hub, Bus& bus, Executor& workers, const Clock& clock, MetricRegistry& metrics,
          bool threaded = true);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // Appends drafts; a loose producer's early numbers wait here for their predecessors, and the end of its task for both
  // (reorder.h).
  // unavailable/busy when the writer's queue is full. Callers fill received_ms.
  void append(AppendRequest request, Done<Appended> done);
  void create_task(TaskSpec spec, std::string idempotency_key, Done<Created> done);
  // `change` edits title and labels of the current spec; its error is the answer.
  void update_task(std::string task, std::function<Result<void>(TaskSpec&)> change, Done<Task> done);
  void delete_task(std::string task, Done<void> done);
  // Drops each task's events through the number given. Feeds and reads do not find them again.
  void drop(std::map<std::string, std::uint64_t> through, Done<void> done);
  // Any other write, in the same queue and transactions.
  void write(std::function<Result<void>(WriteTxn&)> operation, Done<void> done);

  // Live text, never stored: to feeds of this task with `deltas`. Dropped under pressure. `data` is compact JSON.
  void publish_delta(const std::string& task, std::string data);

  // A live cursor. The caller has checked that the task exists and that `after` is not beyond its log.
  // `consumer` must outlive the feed.
  std::unique_ptr<Feed> open_feed(FeedOptions options, FeedConsumer& consumer);

  const EventStore& store() const;

  // Called about every second: releases reordered events whose wait is over, repairs lost bus hints, ages hub tails.
  void tick();
  // Waits until everything queued is committed and completed. The owner stops all writers before.
  void drain();
  // One group commit of what is queued; false when there was nothing. Only when not threaded.
  bool step();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace shepherd
