// A feed: a cursor over one task's log or over all logs, and the only way out except REST pages. Every consumer is a
// loop of "next, write". Connecting, reconnecting, falling behind and being live are the same path: frames come from
// the hub if it has the events after the cursor, otherwise from the store.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/executor.h"
#include "base/result.h"
#include "hub/frame_encoder.h"
#include "hub/hub.h"
#include "hub/selection.h"
#include "hub/tail.h"
#include "store/event_store.h"

namespace shepherd {

// A place in the live text of a task. What comes after it is kept for the feed that begins here, which may be opened a
// little later.
struct DeltaPlace {
  std::uint64_t after = 0;
  std::shared_ptr<void> reader = {};  // null: no place
};

DeltaPlace newest_delta_place(Hub& hub, const std::string& task);

struct FeedOptions {
  std::string task = {};    // empty for the log of all tasks
  std::uint64_t after = 0;  // sequence, or position for all tasks; events after it are delivered
  TypeFilter types = {};
  std::optional<std::set<std::string>> tasks = {};  // for all tasks: only these; nullopt for every task
  bool deltas = false;                              // live text deltas between events (one task's feed, or all)
  DeltaPlace deltas_from = {};                      // without one: those that come from now on
  const FrameEncoder* encoder = nullptr;
  Executor* executor = nullptr;  // where the consumer lives and is called
};

struct FrameBatch {
  std::vector<ByteSpan> spans;  // in order; possibly many frames in a span
  std::size_t events = 0;       // number of task events in them
  std::uint64_t number = 0;     // the cursor after them
  bool end = false;             // task_complete was the last frame, so nothing follows
};

// Called on the feed's executor, once for each next().
class FeedConsumer {
 public:
  virtual ~FeedConsumer() = default;
  virtual void on_frames(FrameBatch&& batch) = 0;
  // unavailable: the store cannot be read now; the consumer should end the stream so that the peer reconnects.
  virtual void on_feed_error(const Error& error) = 0;
};

// Kept small, because there is one per connected consumer.
// Threads: strand (options.executor). Destroy it there; that cancels a pending next().
class Feed final : private TailWaiter {
 public:
  Feed(const EventStore& store, Hub& hub, Executor& workers, FeedOptions options, FeedConsumer& consumer);
  ~Feed() override;
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;

  // Waits for frames and delivers all that are pending (bounded by kFeedReadBytes or a hub segment). One call at a
  // time. May call the consumer before it returns.
  void next();
  // Changes the set of tasks of a multiplexed feed from now on.
  void set_tasks(std::optional<std::set<std::string>> tasks);
  std::uint64_t number() const { return after_; }  // the cursor
  // For filtered feeds: sends a `position` frame if the cursor moved and kPositionInterval has passed.
  void tick(std::int64_t steady_ms);

 private:
  // A page of the store, framed on a worker thread.
  struct StorePage {
    Result<void> outcome;
    std::string bytes;         // gap and event frames
    std::uint64_t number = 0;  // the cursor after them
    std::uint64_t head = 0;
    std::size_t events = 0;
    std::size_t skipped = 0;
    std::string complete;
  };
  static StorePage read_page(const EventStore& store, const std::string& task, std::uint64_t after,
                             const Selection* selection, const FrameEncoder& encoder);

  void on_wake() override;
  void advance();
  void read_store();
  void on_page(StorePage&& page);
  void end_with(const Error& error);
  void deliver(FrameBatch& batch, bool at_end, const std::string& complete);
  void count_skipped(std::size_t skipped, FrameBatch& batch);
  const Selection* selection() const { return selection_.get(); }

  const EventStore& store_;
  Hub& hub_;
  Executor& workers_;
  Executor& executor_;
  const FrameEncoder& encoder_;
  FeedConsumer& consumer_;
  std::shared_ptr<Tail> tail_;
  std::shared_ptr<const Selection> selection_;  // null for everything
  std::shared_ptr<Feed*> alive_;                // for store reads; null inside once the feed is gone
  std::uint64_t after_;
  std::uint64_t delta_seen_ = 0;
  std::shared_ptr<void> delta_reader_;
  std::uint64_t announced_ = 0;   // newest number sent to the consumer
  std::int64_t position_ms_ = 0;  // when it was last sent
  std::size_t skipped_ = 0;       // events skipped since then
  bool deltas_;
  bool wanted_ = false;      // next() waits for an answer
  bool reading_ = false;     // a store read is active
  bool delivering_ = false;  // the consumer has the frames and has not returned
  bool quick_ = false;       // the consumer took the last page at once, so read ahead
  bool caught_up_ = false;   // caught_up was sent
  bool ended_ = false;
};

}  // namespace shepherd
