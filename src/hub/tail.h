// The tail of one log (of one task, or of all tasks): its newest events, framed once per transport on first use, and
// the feeds that wait at its end.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/executor.h"
#include "base/mutex.h"
#include "base/result.h"
#include "hub/framed_log.h"
#include "hub/selection.h"
#include "store/event_batch.h"

namespace shepherd {

// A feed that waits at a tail's end. It lives and is called on its executor, and leaves the tail before it is
// destroyed.
// Threads: strand.
class TailWaiter {
 public:
  TailWaiter() = default;
  virtual ~TailWaiter() = default;  // the owner calls Tail::leave() first
  TailWaiter(const TailWaiter&) = delete;
  TailWaiter& operator=(const TailWaiter&) = delete;

 protected:
  virtual void on_wake() = 0;

 private:
  friend class Tail;
  TailWaiter* previous_ = nullptr;
  TailWaiter* next_ = nullptr;
  TailWaiter** list_ = nullptr;           // head of the list that contains it; null: not waiting
  const Selection* selection_ = nullptr;  // null: everything
  // While it waited, all events up to this number were not wanted; 0: no events were skipped.
  std::uint64_t passed_ = 0;
  bool deltas_ = false;
  bool ready_ = false;
};

// What a feed gets after its cursor.
struct Pull {
  enum class What { frames, nothing, behind, gone };
  What what = What::behind;
  std::uint64_t number = 0;  // the new cursor
  std::size_t events = 0;    // events among the frames
  std::size_t skipped = 0;   // events skipped by the selection
  bool at_end = false;       // the cursor is the log's newest number
  std::string complete;      // at_end of an ended task: data of task_complete
};

struct PullRequest {
  const FrameEncoder* encoder = nullptr;
  std::uint64_t after = 0;
  const Selection* selection = nullptr;  // null: everything
  std::uint64_t* delta_seen = nullptr;   // null: no deltas
  std::size_t max_bytes = 0;
};

// An idle tail is small (vectors, not deques), because every watched task has one.
// Threads: any. Never calls out with its lock held; it collects wake-ups for the hub to post.
class Tail : public std::enable_shared_from_this<Tail> {
 public:
  Tail(std::string task, std::size_t max_events) : task_(std::move(task)), max_events_(max_events) {}

  const std::string& task() const { return task_; }  // empty: all tasks
  bool all() const { return task_.empty(); }

  // Adds the new part of the batch. Appends executors that have feeds to wake (each at most once until it drains).
  void publish(const BatchPtr& batch, std::vector<Executor*>& wake) EXCLUDES(mutex_);
  // Live text with a number of its own, which grows. Feeds that are at the newest event get it before the next one.
  void publish_delta(std::uint64_t id, const std::string& task, const std::string& data, std::vector<Executor*>& wake)
      EXCLUDES(mutex_);
  // While there are readers, live text is kept for them, within bounds, until they have come to its place.
  void add_delta_reader() EXCLUDES(mutex_);
  void remove_delta_reader() EXCLUDES(mutex_);
  // Records that the store reaches `head` (and, with `complete`, that the task has ended). If the head is new, feeds
  // wake and read the events in between from the store.
  void advance_head(std::uint64_t head, const std::string& complete, std::vector<Executor*>& wake) EXCLUDES(mutex_);
  // Called when the task was deleted; feeds then find it gone.
  void forget_deleted(std::vector<Executor*>& wake) EXCLUDES(mutex_);

  // Appends what follows request.after to `out`. If there is nothing and `waiter` is given, the waiter waits from now
  // on, and drain() calls it once.
  Pull pull(const PullRequest& request, std::vector<ByteSpan>& out, TailWaiter* waiter, Executor* executor)
      EXCLUDES(mutex_);
  // Runs up to `most` woken waiters on this executor and decrements `most`. Returns true if more are left for another
  // drain. Runs on the executor.
  bool drain(Executor* executor, std::size_t& most) EXCLUDES(mutex_);
  void leave(TailWaiter& waiter) EXCLUDES(mutex_);
  // The number up to which the log was skipped for this waiter.
  std::uint64_t passed(const TailWaiter& waiter) const EXCLUDES(mutex_);

  std::uint64_t head() const EXCLUDES(mutex_);  // 0: unknown
  std::size_t bytes() const EXCLUDES(mutex_);
  bool watched() const EXCLUDES(mutex_);  // whether a feed waits here
  // Frees the cached bytes but keeps the numbers.
  void evict() EXCLUDES(mutex_);

 private:
  // The waiters of one executor. It never moves, because waiters point into it.
  struct Group {
    Executor* executor = nullptr;
    TailWaiter* plain = nullptr;     // want everything
    TailWaiter* filtered = nullptr;  // have a selection or want deltas
    TailWaiter* draining = nullptr;  // are being called
    bool posted = false;             // a drain is on its way, or has not called all waiters yet
    bool again = false;              // meanwhile others woke
  };
  static constexpr std::uint64_t kUnknownPlace = ~std::uint64_t{0};
  struct Delta {
    std::uint64_t id;
    std::uint64_t after;  // the log's newest number when the delta arrived; kUnknownPlace until that is known
    std::string task, data;
    std::vector<std::pair<const FrameEncoder*, ByteSpan>> framed;
  };

  static void link(TailWaiter*& list, TailWaiter& waiter);
  static void unlink(TailWaiter& waiter);
  Group& group_of(Executor* executor) REQUIRES(mutex_);
  void restart(std::uint64_t head) REQUIRES(mutex_);
  void trim() REQUIRES(mutex_);
  void wake_all(std::vector<Executor*>& wake) REQUIRES(mutex_);
  void post(Group& group, std::vector<Executor*>& wake) REQUIRES(mutex_);
  void collect_woken(Group& group) REQUIRES(mutex_);
  FramedLog& framed(const FrameEncoder& encoder, std::uint64_t from) REQUIRES(mutex_);
  void drop_old_deltas() REQUIRES(mutex_);
  template <class Deltas>
  static auto first_unseen(Deltas& deltas, std::uint64_t seen);
  void take_deltas(const PullRequest& request, std::vector<ByteSpan>& out) REQUIRES(mutex_);
  std::uint64_t place_of_next_delta(const PullRequest& request) const REQUIRES(mutex_);
  void take_selected(const PullRequest& request, std::uint64_t through, FramedLog& frames, std::vector<ByteSpan>& out,
                     Pull& pull) REQUIRES(mutex_);
  void wait(TailWaiter& waiter, const PullRequest& request, Executor* executor) REQUIRES(mutex_);
  std::uint64_t first_of(const EventBatch& batch) const { return all() ? batch.position : batch.first; }
  std::uint64_t last_of(const EventBatch& batch) const { return all() ? batch.last_position() : batch.last(); }

  const std::string task_;
  const std::size_t max_events_;
  mutable Mutex mutex_;
  std::vector<BatchPtr> batches_ GUARDED_BY(mutex_);  // consecutive, ending at head_
  std::uint64_t head_ GUARDED_BY(mutex_) = 0;
  bool known_ GUARDED_BY(mutex_) = false;  // head_ is valid
  bool gone_ GUARDED_BY(mutex_) = false;
  std::size_t events_ GUARDED_BY(mutex_) = 0;
  std::size_t batch_bytes_ GUARDED_BY(mutex_) = 0;
  std::string complete_ GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<FramedLog>> framed_ GUARDED_BY(mutex_);
  std::deque<Delta> deltas_ GUARDED_BY(mutex_);  // in order
  std::size_t delta_bytes_ GUARDED_BY(mutex_) = 0;
  std::size_t delta_readers_ GUARDED_BY(mutex_) = 0;
  std::vector<std::unique_ptr<Group>> groups_ GUARDED_BY(mutex_);
};

}  // namespace shepherd
