// The feed: pulls from the tail when it has what follows the cursor, reads the store when it has not.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/executor.h"
#include "hub/hub.h"
#include "journal/feed.h"
#include "store/event_store.h"

namespace shepherd {

// Small on purpose: there is one per connected consumer.
// Threads: strand (options.executor).
class LiveFeed final : public Feed, private TailWaiter {
 public:
  LiveFeed(const EventStore& store, Hub& hub, Executor& workers, FeedOptions options, FeedConsumer& consumer);
  ~LiveFeed() override;
  LiveFeed(const LiveFeed&) = delete;
  LiveFeed& operator=(const LiveFeed&) = delete;

  void next() override;
  void set_tasks(std::optional<std::set<std::string>> tasks) override;
  std::uint64_t number() const override { return after_; }
  void tick(std::int64_t steady_ms) override;

 private:
  struct StorePage;  // a page of the store, framed on a worker thread
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
  std::shared_ptr<LiveFeed*> alive_;            // made for store reads; null inside once the feed is gone
  std::uint64_t after_;
  std::uint64_t delta_seen_ = 0;
  std::uint64_t announced_ = 0;   // newest number the consumer was told
  std::int64_t position_ms_ = 0;  // when it was last told
  std::size_t skipped_ = 0;       // events passed over since then
  bool deltas_;
  bool wanted_ = false;      // next() waits for an answer
  bool reading_ = false;     // a store read is under way
  bool delivering_ = false;  // the consumer has the frames and has not returned
  bool quick_ = false;       // the consumer took the last page at once: worth reading ahead for
  bool caught_up_ = false;   // said so
  bool ended_ = false;
};

}  // namespace shepherd
