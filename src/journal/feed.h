// A feed: a cursor over one task's log or over all logs. The one way out: REST pages apart, every consumer is a loop of
// "next, write". Connecting, reconnecting, falling behind and being live are the same path: frames come from the hub
// when it has what follows the cursor, from the store when it has not.
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

struct FeedOptions {
  std::string task = {};    // empty: the log of all tasks
  std::uint64_t after = 0;  // sequence, or position for all tasks; events after it are delivered
  TypeFilter types = {};
  std::optional<std::set<std::string>> tasks = {};  // all tasks only: these alone; nullopt: every task
  bool deltas = false;                              // live text deltas between events (one task's feed, or all)
  const FrameEncoder* encoder = nullptr;
  Executor* executor = nullptr;  // where the consumer is called and lives
};

struct FrameBatch {
  std::vector<ByteSpan> spans;  // in order; possibly many frames in a span
  std::size_t events = 0;       // task events among them
  std::uint64_t number = 0;     // the cursor after them
  bool end = false;             // task_complete was the last frame: nothing follows
};

// Called on the feed's executor, once for each next().
class FeedConsumer {
 public:
  virtual ~FeedConsumer() = default;
  virtual void on_frames(FrameBatch&& batch) = 0;
  // unavailable: the store cannot be read now; the consumer should end the stream so that the peer reconnects.
  virtual void on_feed_error(const Error& error) = 0;
};

// Small on purpose: there is one per connected consumer.
// Threads: strand (options.executor). Destroy it there; a pending next() is then forgotten.
class Feed final : private TailWaiter {
 public:
  Feed(const EventStore& store, Hub& hub, Executor& workers, FeedOptions options, FeedConsumer& consumer);
  ~Feed() override;
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;

  // Waits for frames and hands over all that is pending (bounded by kFeedReadBytes or a hub segment). One call at a
  // time. May call the consumer before it returns.
  void next();
  // Changes the set of a multiplexed feed, from now on.
  void set_tasks(std::optional<std::set<std::string>> tasks);
  std::uint64_t number() const { return after_; }  // the cursor
  // For filtered feeds: lets a `position` frame out when the cursor moved and kPositionInterval has passed.
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
  std::shared_ptr<const Selection> selection_;  // null: everything
  std::shared_ptr<Feed*> alive_;                // made for store reads; null inside once the feed is gone
  std::uint64_t after_;
  std::uint64_t delta_seen_ = 0;
  std::uint64_t announced_ = 0;   // newest number that the consumer has
  std::int64_t position_ms_ = 0;  // when it last got one
  std::size_t skipped_ = 0;       // filtered out since then
  bool deltas_;
  bool wanted_ = false;      // next() waits for an answer
  bool reading_ = false;     // a store read is under way
  bool delivering_ = false;  // the consumer has the frames and has not returned
  bool quick_ = false;       // the consumer took the last page at once: worth reading ahead for
  bool caught_up_ = false;   // the consumer got a frame that says so
  bool ended_ = false;
};

}  // namespace shepherd
