// A task's state after one of its events.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "store/event_store.h"

namespace shepherd {

struct TaskAt {
  Task task;
  // False if retention dropped the beginning of the log, so that the state lacks what happened there.
  bool whole = true;
};

// Finds the state after event `sequence`; 0 is the task as it was created. Starts at the newest checkpoint before it
// and folds the rest of the log a page at a time, so that its owner can stop or let other work run in between. A log
// that an earlier program wrote may have no checkpoints. Then the scan leaves some behind for the owner to store.
// Threads: caller (blocks on store reads, so call it from a worker thread).
class StateScan {
 public:
  StateScan(const EventStore& store, std::string task, std::uint64_t sequence)
      : store_(store), task_(std::move(task)), sequence_(sequence) {}

  // Reads one page; true once the state is found. not_found/unknown_task; conflict/cursor_ahead with lastSequence;
  // gone/event_dropped if that event is no longer kept; internal/corrupt.
  Result<bool> step();
  // The task as it was then, after step() returned true.
  TaskAt& found() { return at_; }
  // A checkpoint that the store lacks, after step() came past its place.
  std::optional<Checkpoint> take_missing() { return std::exchange(missing_, std::nullopt); }
  std::uint64_t events_read() const { return events_read_; }

 private:
  Result<void> begin();
  Result<void> jump();
  Result<void> fold_page(const Page& page, std::uint64_t through);

  const EventStore& store_;
  const std::string task_;
  const std::uint64_t sequence_;
  TaskAt at_;
  bool begun_ = false;
  bool look_again_ = false;            // for a newer checkpoint
  std::uint64_t first_ = 0;            // number of the oldest event, or of the next one if none is kept
  std::uint64_t last_checkpoint_ = 0;  // where the fold began, or the number of the newest checkpoint that it passed
  std::uint64_t events_read_ = 0;
  std::size_t beginnings_ = 0;
  std::optional<Checkpoint> missing_;
};

}  // namespace shepherd
