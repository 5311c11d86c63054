// A log's time bar: the density of events over time, and the moments worth jumping to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "store/event_store.h"

namespace shepherd {

struct TimelineBucket {
  std::int64_t at_ms = 0;   // start of the bucket
  std::uint64_t first = 0;  // its first event; for an empty bucket, the next bucket's
  std::uint64_t events = 0, errors = 0;
};

struct TimelineMark {
  std::uint64_t sequence = 0;
  std::int64_t at_ms = 0;
  std::string_view kind;  // error, approval, command, result
};

struct Timeline {
  std::int64_t from_ms = 0, to_ms = 0;  // of the first and the last event
  std::uint64_t first_sequence = 0, last_sequence = 0;
  std::vector<TimelineBucket> buckets;  // of equal length, ascending; none for an empty log
  std::vector<TimelineMark> marks;      // ascending, at most kMaxTimelineMarks; errors and approvals take precedence
};

// Reads the log once, or the newest kMaxTimelineEvents events of a longer one, a page at a time, so that its owner can
// stop or let other work run in between. Times are the producer's, as in a replay, but never decrease.
// Threads: caller (blocks on store reads, so call it from a worker thread).
class TimelineScan {
 public:
  TimelineScan(const EventStore& store, std::string task) : store_(store), task_(std::move(task)) {}

  // Reads one page; true at the end of the log as it was at the first step. not_found, and the store's errors.
  Result<bool> step();
  // After step() returned true.
  Timeline timeline(std::size_t bucket_count) const;

 private:
  void add(std::uint64_t sequence, EventType type, std::string_view event);
  std::vector<TimelineBucket> buckets(std::size_t count) const;
  std::vector<TimelineMark> marks() const;

  const EventStore& store_;
  const std::string task_;
  bool begun_ = false;
  std::uint64_t after_ = 0, head_ = 0;  // the part of the log that is left to read
  std::uint64_t first_ = 0;             // number of the first event read
  std::vector<std::int64_t> times_;     // of every event, never decreasing
  std::vector<bool> errors_;
  std::vector<TimelineMark> urgent_, others_;
};

}  // namespace shepherd
