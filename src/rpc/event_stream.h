// One StreamEvents call: the loop of "next, write" between feeds and gRPC's flow control. It writes a batch of frames
// message by message and requests the feed's next batch when the first message is being written. Reading and writing
// thus overlap, and a caller that does not read holds only two batches of each feed.
#pragma once

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/executor.h"
#include "base/mutex.h"
#include "journal/feed.h"
#include "rpc/callers.h"
#include "rpc/event_frames.h"
#include "rpc/stream_plan.h"
#include "rpc/write_progress.h"

namespace shepherd {

class EventStreams;

// Owns itself: created for a call, deleted after gRPC's OnDone. gRPC allows one write at a time and no Finish beside
// it; only the thread that has set busy_ may start one.
// Threads: any. The feeds live on the executor.
class EventStream final : public grpc::ServerWriteReactor<grpc::ByteBuffer> {
 public:
  // One feed, which runs entirely on the executor.
  struct Source final : FeedConsumer, std::enable_shared_from_this<Source> {
    explicit Source(EventStream& owner) : stream(&owner) {}

    void next() {
      if (feed != nullptr) feed->next();
    }
    void tick(std::int64_t steady_ms) {
      if (feed != nullptr) feed->tick(steady_ms);
    }
    void on_frames(FrameBatch&& batch) override;
    void on_feed_error(const Error& error) override;

    EventStream* stream;  // nullptr once the stream is gone
    std::unique_ptr<Feed> feed;
    bool behind = true;  // owned by the stream, under its lock
  };

  EventStream(EventStreams& streams, grpc::CallbackServerContext& context, CallTrail trail);

  // Call exactly one of these, once; open() on that executor.
  void refuse(const Error& error) EXCLUDES(mutex_);
  void open(StreamPlan plan, Executor& executor) EXCLUDES(mutex_);

  // Called about every second: ends the stream if its token was revoked or its caller does not read. Returns the
  // executor on which to tick its feeds, so that they send positions; nullptr if it has none yet.
  Executor* tick(std::int64_t steady_ms) EXCLUDES(mutex_);
  void append_sources(std::vector<std::shared_ptr<Source>>& sources) EXCLUDES(mutex_);
  // Ends the stream after the current message. The first end counts.
  void end(grpc::Status status) EXCLUDES(mutex_);
  // Does not wait for the current message.
  void cut() EXCLUDES(mutex_);

  void OnWriteDone(bool ok) override EXCLUDES(mutex_);
  void OnCancel() override EXCLUDES(mutex_);
  void OnDone() override EXCLUDES(mutex_);

 private:
  struct Batch {
    std::shared_ptr<Source> source;
    std::vector<ByteSpan> spans;
    bool end = false;    // of that feed
    bool begun = false;  // its first message is being written, and the next batch is requested
  };
  struct Place {  // in the batch that is being written
    std::size_t span = 0, offset = 0;
    std::optional<grpc::Slice> slice;  // the span's bytes, shared by its messages
  };

  void offer(Batch batch) EXCLUDES(mutex_);
  // Returns gRPC's next step, if there is one and none is active. Sets busy_.
  struct Step {
    bool write = false;
    grpc::WriteOptions options;
    std::optional<grpc::Status> finish;
  };
  Step next_step() REQUIRES(mutex_);
  // Carries out the step. The caller must not use the stream afterwards, because gRPC may already be destroying it.
  void take(const Step& step) EXCLUDES(mutex_);
  void go_on() EXCLUDES(mutex_);  // next_step(), then take()
  void begin(Batch& batch) REQUIRES(mutex_);
  bool next_message() REQUIRES(mutex_);
  bool next_in_batch(Batch& batch) REQUIRES(mutex_);
  void batch_done() REQUIRES(mutex_);
  bool wanted(FrameKind kind, std::string_view message) const;
  void caught_up(Source& source) REQUIRES(mutex_);
  void leave() EXCLUDES(mutex_);

  EventStreams& streams_;
  CallTrail trail_;

  StreamPlan plan_;  // set by open() before any other access

  Mutex mutex_;
  grpc::CallbackServerContext* context_ GUARDED_BY(mutex_);  // nullptr after OnDone
  Executor* executor_ GUARDED_BY(mutex_) = nullptr;
  std::vector<std::shared_ptr<Source>> sources_ GUARDED_BY(mutex_);
  std::deque<Batch> batches_ GUARDED_BY(mutex_);
  Place place_ GUARDED_BY(mutex_);
  grpc::ByteBuffer message_;              // owned by the thread that has set busy_
  bool busy_ GUARDED_BY(mutex_) = true;   // during a write, the end or the opening
  bool more_ GUARDED_BY(mutex_) = false;  // another message is ready, so this one need not be flushed at once
  std::optional<grpc::Status> end_ GUARDED_BY(mutex_);
  std::uint64_t messages_ GUARDED_BY(mutex_) = 0;
  WriteProgress progress_ GUARDED_BY(mutex_);
  std::size_t open_feeds_ GUARDED_BY(mutex_) = 0;    // feeds that have not ended
  std::size_t feeds_behind_ GUARDED_BY(mutex_) = 0;  // feeds that have not caught up
};

}  // namespace shepherd
