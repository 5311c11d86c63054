// A follower: a cursor over the change stream (store/change.h) for parts of the server that must know what changed.
// While it is at the end of the stream it gets each commit in hand; when it is behind, after a restart or after another
// process wrote, it reads the store. It hands on everything once and in order, and again what its owner could not
// handle.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/executor.h"
#include "base/mutex.h"
#include "base/result.h"
#include "hub/selection.h"
#include "store/event_store.h"

namespace shepherd {

class Journal;
class Follower;

// What follows the cursor. A deletion comes before the row of a task that was created again with the same id.
struct News {
  std::vector<BatchPtr> batches;     // only those with a wanted type
  std::vector<Change> changes;       // all of them
  std::vector<std::string> deleted;  // tasks that were deleted
  std::vector<RowPtr> rows;          // the tasks in batches and changes, each once, at least as new as these
  Place through;
  bool restarted = false;  // changes before these are lost, events are not: read all state again, then take the rest
};

struct FollowOptions {
  std::string name;        // in the log, and of the stored cursor
  TypeFilter types;        // events to follow; empty means all
  bool events = true;      // false: only changes that are no events
  bool durable = false;    // keeps its place in the store, and starts there
  std::string old_cursor;  // "KIND/KEY" of the record in which an earlier version kept the position
};

// Called with what is new; must call `done` once, from any thread: true moves the cursor, false gets the same news
// again after the next tick. No further call before that.
using OnNews = std::function<void(News news, std::move_only_function<void(bool)> done)>;

// The events that change what a task waits for; steering and the inbox follow them.
TypeFilter steering_types();

// The journal owns this part and offers it every commit; the owner has a Follower.
// Threads: any.
class FollowerCore : public std::enable_shared_from_this<FollowerCore> {
 public:
  FollowerCore(Journal& journal, Executor& executor, const Clock& clock, FollowOptions options, OnNews on_news,
               Place start);

  // A commit of this process, in commit order. Never blocks and never calls the owner.
  void offer(const std::shared_ptr<const Commit>& commit) EXCLUDES(mutex_);
  // The store may have more than was offered.
  void look() EXCLUDES(mutex_);
  // Whether the place is behind `newest`.
  bool lags(Place newest) const EXCLUDES(mutex_);
  void after(Place place, Work work) EXCLUDES(mutex_);
  // Stores the cursor and tries again after a failure.
  void tick() EXCLUDES(mutex_);
  void pause() EXCLUDES(mutex_);
  void resume(Place from) EXCLUDES(mutex_);
  void stop() EXCLUDES(mutex_);
  Place place() const EXCLUDES(mutex_);
  void keep_cursor(Place place);

 private:
  bool wants(const Commit& commit) const;
  bool wants(const EventBatch& batch) const;
  void wake() EXCLUDES(mutex_);
  void run() EXCLUDES(mutex_);
  void hand_on(News news, std::uint64_t resumed) EXCLUDES(mutex_);
  // Work that waited for a place that is reached now.
  std::vector<Work> take_reached() REQUIRES(mutex_);
  void post_all(std::vector<Work> works);
  void finished(Place through, std::uint64_t resumed, bool handled) EXCLUDES(mutex_);
  News from_commits(std::deque<std::shared_ptr<const Commit>> commits, Place after) const;
  struct Read {
    News news;
    bool more = false;  // the stream goes on after it
  };
  Result<Read> from_store(Place after) const;

  Journal& journal_;
  Executor& executor_;
  const Clock& clock_;
  const FollowOptions options_;
  const OnNews on_news_;
  const TypeMask mask_;
  mutable Mutex mutex_;
  CondVar idle_;
  Place place_ GUARDED_BY(mutex_);
  Place kept_ GUARDED_BY(mutex_);
  std::int64_t kept_ms_ GUARDED_BY(mutex_);
  std::deque<std::shared_ptr<const Commit>> commits_
      GUARDED_BY(mutex_);  // follow place_ without a hole, if not behind_
  struct Waiting {
    Place place;
    Work work;
  };
  std::vector<Waiting> waiting_ GUARDED_BY(mutex_);
  bool behind_ GUARDED_BY(mutex_) = true;    // the store has news that commits_ lacks
  bool active_ GUARDED_BY(mutex_) = false;   // posted, or handing on
  bool handing_ GUARDED_BY(mutex_) = false;  // the owner has news that it is not done with
  bool broken_ GUARDED_BY(mutex_) = false;   // waits for the next tick
  bool paused_ GUARDED_BY(mutex_) = false;
  std::uint64_t resumed_ GUARDED_BY(mutex_) = 0;  // how often; news from before the last time do not move the place
  bool stopped_ GUARDED_BY(mutex_) = false;
};

// Owns its part in the stream; the destructor stops it and waits until the owner's function has finished, so the
// executor must run until then.
// Threads: any.
class Follower {
 public:
  explicit Follower(std::shared_ptr<FollowerCore> core) : core_(std::move(core)) {}
  ~Follower() { stop(); }
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  void stop() { core_->stop(); }
  // While it is paused, the cursor moves on and the owner gets nothing; resume() goes back to `from`.
  void pause() { core_->pause(); }
  void resume(Place from) { core_->resume(from); }
  Place place() const { return core_->place(); }
  // Runs the work on the executor once the owner has handled everything up to that place, so that a caller finds what
  // it was told is done. Also runs it when the follower stops or its owner cannot go on.
  void after(Place place, Work work) { core_->after(place, std::move(work)); }

 private:
  std::shared_ptr<FollowerCore> core_;
};

}  // namespace shepherd
