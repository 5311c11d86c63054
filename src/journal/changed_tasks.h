// Whose events came: the feed over all logs for readers inside the server, who look at the tasks themselves. It asks
// for more when the reader is done with what it got, and after a failure begins again behind that.
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

// Owns its feed. A store that cannot be read is logged once for each failure; the next tick tries again.
// Threads: strand (its executor).
class ChangedTasks final : FeedConsumer {
 public:
  // The tasks of the next events, perhaps none, and the position that they reach. Nothing more comes before done().
  using OnNames = std::function<void(std::set<std::string> tasks, std::uint64_t through)>;

  // `reader` says in the log who cannot read. Journal and executor must outlive the feed.
  ChangedTasks(Journal& journal, std::string reader, TypeFilter types, OnNames on_names);

  void open(Executor& executor, std::uint64_t after);
  void close();
  bool is_open() const { return feed_ != nullptr; }

  // Everything through there has been dealt with; may be called from inside on_names.
  void done(std::uint64_t through);
  // It could not be dealt with: it comes again, after the next tick.
  void failed() { broken_ = true; }
  std::uint64_t done_through() const { return done_through_; }

  void tick(std::int64_t steady_ms);  // about every kServerTick

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
  bool pumping_ = false;  // next() may answer before it returns
  bool broken_ = false;
};

// What steering and the inbox go by: the events that change what a task waits for.
TypeFilter steering_types();

}  // namespace shepherd
