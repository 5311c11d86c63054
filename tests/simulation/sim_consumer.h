// A consumer in the simulated world: reads at any time, disconnects and resumes at its cursor.
// Threads: caller.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "journal/feed.h"
#include "replica.h"

namespace shepherd::simulation {

// Of one task, and of all; hub/test_frames.h.
extern const FrameEncoder& kTaskFrames;
extern const FrameEncoder& kAllFrames;

inline constexpr ReadLimit kEverything{1'000'000, 1'000'000'000};

std::uint64_t take_number(std::string_view& text);

class SimConsumer final : public FeedConsumer {
 public:
  SimConsumer(std::string name, FeedOptions options, std::uint64_t start)
      : name_(std::move(name)), options_(std::move(options)), start_(start), cursor_(start) {}

  void connect(Replica& replica);
  void hang_up() { feed_.reset(); }
  bool connected() const { return feed_ != nullptr; }
  bool idle() const { return connected() && ready_; }
  void next();
  void tick(std::int64_t now_ms) {
    if (feed_) feed_->tick(now_ms);
  }

  void on_frames(FrameBatch&& batch) override;
  void on_feed_error(const Error& error) override { broken_ = !error.message.empty(); }
  bool broken() const { return broken_; }
  bool ended() const { return ended_; }

  // Checks that this consumer received every event of the store that it wanted, once and in order.
  void check_complete(const EventStore& store) const;

 private:
  void take_frame(std::string_view text);

  std::string name_;
  FeedOptions options_;
  std::uint64_t start_;
  std::uint64_t cursor_;
  std::vector<std::uint64_t> received_;
  std::unique_ptr<Feed> feed_;
  bool ready_ = false;  // may call next
  bool broken_ = false;
  bool ended_ = false;
};

}  // namespace shepherd::simulation
