// The journal: one way in (append, write) and one way out (open_feed for events, follow for every change). Appends
// complete after their commit; then the hub is notified, then the bus. One task's appends keep their order.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "base/clock.h"
#include "base/executor.h"
#include "base/metrics.h"
#include "base/result.h"
#include "bus/bus.h"
#include "hub/hub.h"
#include "journal/feed.h"
#include "journal/follower.h"
#include "journal/limits.h"
#include "journal/write_operation.h"
#include "store/event_store.h"

namespace shepherd {

// Threads: any.
class Journal {
 public:
  // All references must outlive the journal, and `workers` must have run everything posted before the journal is
  // destroyed. With `threaded` false nothing commits by itself; the owner calls step() (simulation).
  Journal(EventStore& store, Hub& hub, Bus& bus, Executor& workers, const Clock& clock, MetricRegistry& metrics,
          bool threaded = true);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // Appends drafts. A loose producer's early numbers wait here for their predecessors, and the end of its task waits
  // for both (reorder.h). unavailable/busy if the writer's queue is full. Callers set received_ms.
  void append(AppendRequest request, Done<Appended> done);
  void create_task(TaskSpec spec, std::string idempotency_key, Done<Created> done);
  // `change` edits title and labels of the current spec; its error is returned.
  void update_task(std::string task, std::function<Result<void>(TaskSpec&)> change, Done<Task> done);
  void delete_task(std::string task, Done<void> done);
  // Drops each task's events through the given number. Like deleted ones, they are never read again.
  void drop(std::map<std::string, std::uint64_t> through, Done<void> done);
  // Any other write, in the same queue and transactions: `work` gets a WriteTxn and returns a Result<T>, `done` gets it
  // after the commit (write_operation.h says what the work may do).
  template <class Work, class OnDone>
  void write(Work work, OnDone done) {
    using T = typename std::invoke_result_t<Work&, WriteTxn&>::value_type;
    auto operation = std::make_unique<Operation<T>>(Atomicity::compound, kSmallWriteBytes, std::move(work),
                                                    Done<T>(std::move(done)));
    submit(std::move(operation));
  }

  // Follows every change from now on (durable: from its stored place on). The function is called on `executor`, one
  // call at a time. The journal must outlive the follower.
  Result<std::unique_ptr<Follower>> follow(FollowOptions options, Executor& executor, OnNews on_news);

  // Calls `wake` after every change, on the writer's or another thread, so it must not block. For parts with a thread
  // and a cursor of their own that read the store. Call it before the first write.
  void on_change(std::function<void()> wake);

  // Publishes live text, which is never stored, to this task's feeds with `deltas`. Dropped under pressure. `data` is
  // compact JSON.
  void publish_delta(const std::string& task, std::string data);
  // Where the task's live text is now, for a feed that is opened later (FeedOptions::deltas_from).
  DeltaPlace delta_place(const std::string& task);

  // Opens a live cursor. The caller has checked that the task exists and that `after` is not beyond its log. `consumer`
  // must outlive the feed.
  std::unique_ptr<Feed> open_feed(FeedOptions options, FeedConsumer& consumer);

  const EventStore& store() const;
  // Whether other processes write to the same store.
  bool has_replicas() const;

  // Call about every second: moves followers on, releases reordered events whose wait is over, repairs lost bus hints,
  // ages hub tails.
  void tick();
  // Waits until everything queued is committed and completed. Stop all writers first.
  void drain();
  // Runs one group commit of the queue; returns false if it was empty. Only if not threaded.
  bool step();

 private:
  template <class T>
  void submit(std::unique_ptr<Operation<T>> operation) {
    Operation<T>* raw = operation.get();
    std::unique_ptr<WriteOperation> taken = std::move(operation);
    if (auto accepted = submit_or_keep(taken); !accepted) raw->done()(fail(accepted.error()));
  }
  // unavailable/busy if the queue is full, and then leaves the operation with the caller, uncalled.
  Result<void> submit_or_keep(std::unique_ptr<WriteOperation>& operation);

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace shepherd
