// Reads pages of one task's log from the store's batches. Blocking; for worker threads.
// Threads: any (no state).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "journal/feed.h"
#include "store/event_store.h"

namespace shepherd {

struct PageRequest {
  std::string task;
  std::optional<std::uint64_t> after, before;  // both exclude their number
  std::optional<std::uint64_t> tail;           // the newest `tail` events, instead of `after`
  TypeFilter types;
  std::size_t limit = 0;
};

struct PickedEvent {
  BatchPtr batch;
  std::size_t index = 0;
  std::uint64_t sequence() const { return batch->first + index; }
  std::string_view json() const { return batch->event(index); }
};

struct EventPage {
  std::vector<PickedEvent> events;                             // ascending
  std::uint64_t first = 0, head = 0;                           // the log's present range
  std::optional<std::pair<std::uint64_t, std::uint64_t>> gap;  // requested, but no longer kept
  std::optional<std::uint64_t> next_after;                     // more follow after this number
  std::optional<std::uint64_t> next_before;                    // more events before this number (backward pages)
};

// conflict/cursor_ahead with lastSequence if `after` is beyond the log; the store's errors.
Result<EventPage> read_event_page(const EventStore& store, const PageRequest& request);

// Returns the number before the newest `count` events that pass the filter. Looks back at most kMaxTailScan events.
Result<std::uint64_t> tail_start(const EventStore& store, const std::string& task, std::uint64_t count,
                                 const TypeFilter& types);

// The same over the logs of these tasks: returns a position at most kMaxPageEvents events before `newest`, the newest
// one.
Result<std::uint64_t> tail_start(const EventStore& store, const std::set<std::string>& tasks, std::uint64_t newest,
                                 std::uint64_t count, const TypeFilter& types);

Error cursor_ahead(std::uint64_t head);

}  // namespace shepherd
