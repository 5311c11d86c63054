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
#include "hub/selection.h"

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

// Threads: strand (its executor). Destroy it there; a pending next() is then forgotten.
class Feed {
 public:
  virtual ~Feed() = default;
  // Waits for frames and hands over all that is pending (bounded by kFeedReadBytes or a hub segment). One call at a
  // time. May call the consumer before it returns.
  virtual void next() = 0;
  // Changes the set of a multiplexed feed, from now on.
  virtual void set_tasks(std::optional<std::set<std::string>> tasks) = 0;
  virtual std::uint64_t number() const = 0;  // the cursor
  // For filtered feeds: lets a `position` frame out when the cursor moved and kPositionInterval has passed.
  virtual void tick(std::int64_t steady_ms) = 0;
};

}  // namespace shepherd
