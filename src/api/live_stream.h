// A live answer: the loop of "next, write" between a feed and a connection. Each transport is a subclass.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "access/principal.h"
#include "api/core.h"
#include "journal/feed.h"
#include "net/http.h"

namespace shepherd {

// The caller, log and start of a stream, for the audit and for ending the stream.
struct StreamTrail {
  std::shared_ptr<const Principal> principal;
  std::string peer;
  std::string task;  // empty for all logs
  int status = 0;
  std::int64_t begun_wall_ms = 0, begun_steady_ms = 0;
  std::uint64_t after = 0;
  bool takes_commands = false;             // the stream is a runner's and waits for commands
  std::vector<std::string> command_tasks;  // the tasks of these commands, as registered with steering
};

// Owned by its connection. Small: ten thousand of them wait at the same time.
// Threads: strand (the connection's io thread), except principal(), task(), executor() and wants_task_updates().
class LiveStream : public net::StreamHandler, public FeedConsumer, public std::enable_shared_from_this<LiveStream> {
 public:
  // Options without an encoder open no feed.
  LiveStream(Core& core, FeedOptions options, StreamTrail trail);
  ~LiveStream() override;

  const Principal& principal() const { return *trail_->principal; }
  const std::string& task() const { return trail_->task; }
  Executor& executor() const { return *executor_; }
  virtual bool wants_task_updates() const { return false; }
  virtual void on_task_updates(const std::vector<TaskUpdate>&) {}
  virtual void on_inbox_update(const ByteSpan&) {}

  // Closes with a code; earlier writes still go out. No effect if it is already closing.
  void end(std::uint16_t code, std::string_view reason);

  void on_open(net::StreamConnection& connection) final;
  void on_drained() final;
  void on_tick(std::int64_t steady_ms) final;
  void on_message(std::string_view) override {}
  void on_shutdown() final;
  void on_close(net::CloseCause cause) final;

 protected:
  virtual void on_start() {}               // the connection is open, the feed is not
  virtual void on_stop() {}                // the connection is gone
  virtual void on_second(std::int64_t) {}  // a tick while the stream is open
  virtual void on_room() {}                // the connection has drained
  virtual void on_written(std::size_t bytes) { (void)bytes; }

  // Writes our own message between the feed's. It is kept until the connection has drained, up to kMaxPendingReplies.
  // Returns false if it did not fit.
  bool say(ByteSpan message);
  Feed* feed() { return feed_.get(); }
  // For a stream that was made without a feed: follows a log from now on.
  void open_feed(FeedOptions options);
  // The stream follows these logs from now on (nullopt for all), and takes their commands if it is a runner's.
  void follows(const std::optional<std::set<std::string>>& tasks);
  void write(std::span<const ByteSpan> spans);
  bool has_room() const { return connection_ != nullptr && !draining_ && !ended_; }
  Core& core() { return core_; }
  bool ended() const { return ended_; }

 private:
  void listen_for_commands(std::vector<std::string> tasks);
  friend class LiveRegistry;

  void on_frames(FrameBatch&& batch) final;
  void on_feed_error(const Error& error) final;
  void pump();
  void record(net::CloseCause cause, std::uint64_t last);

  Core& core_;
  net::StreamConnection* connection_ = nullptr;  // nullptr before on_open and after on_close
  Executor* executor_ = nullptr;
  std::unique_ptr<Feed> feed_;
  std::unique_ptr<FeedOptions> options_;  // until the feed is open
  std::unique_ptr<StreamTrail> trail_;
  std::unique_ptr<std::vector<ByteSpan>> unsaid_;  // our own messages that wait for on_drained
  LiveStream* older_ = nullptr;                    // owned by the registry
  LiveStream* newer_ = nullptr;
  std::uint64_t access_revision_ = 0;
  bool waiting_ = false;   // for the feed
  bool draining_ = false;  // for the connection
  bool pumping_ = false;
  bool ended_ = false;
};

}  // namespace shepherd
