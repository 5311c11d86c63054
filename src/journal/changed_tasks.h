// A feed over all logs that reports which tasks have new events, for readers inside the server that look at the tasks
// themselves. It requests more when the reader is done, and restarts after a failure.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "base/executor.h"
#include "hub/selection.h"
#include "journal/journal.h"

namespace shepherd {

// Owns its feed. Logs each failure to read the store once; the next tick tries again.
// Threads: strand (its executor).
class ChangedTasks final : FeedConsumer {
 public:
  // Called with the tasks of the next events, perhaps none, and the position they reach. No further call before done().
  using OnNames = std::function<void(std::set<std::string> tasks, std::uint64_t through)>;

  // `reader` names the reader in the log. Journal and executor must outlive the feed.
  ChangedTasks(Journal& journal, std::string reader, TypeFilter types, OnNames on_names);

  void open(Executor& executor, std::uint64_t after);
  void close();
  bool is_open() const { return feed_ != nullptr; }

  // Everything through that position is done; may be called from inside on_names.
  void done(std::uint64_t through);
  // The tasks could not be handled; they come again after the next tick.
  void failed() { broken_ = true; }
  std::uint64_t done_through() const { return done_through_; }

  void tick(std::int64_t steady_ms);  // call about every kServerTick

 private:
  void on_frames(FrameBatch&& batch) override;
  void on_feed_error(const Error& error) override;
  void begin();
  void pump();

  Journal& journal_;
  const std::string reader_;
  const TypeFilter types_;
  const OnNames on_names_;
  Executor* executor_ = nullptr;
  std::unique_ptr<Feed> feed_;
  std::uint64_t done_through_ = 0;
  bool asked_ = false;    // from next() until done()
  bool pumping_ = false;  // because next() may deliver before it returns
  bool broken_ = false;
};

// The events that change what a task waits for; steering and the inbox follow them.
TypeFilter steering_types();

}  // namespace shepherd
