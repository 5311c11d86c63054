// A log's time bar: the density of events over time, and the moments worth jumping to.
// Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
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

// Reads the log once, or the newest kMaxTimelineEvents events of a longer one. Times are the producer's, as in a
// replay, but never decrease. Blocks, so call it from a worker thread. not_found, and the store's errors.
Result<Timeline> read_timeline(const EventStore& store, const std::string& task, std::size_t buckets);

}  // namespace shepherd
