// The change stream: everything that a commit changed, in commit order. Events have their global position; what is not
// an event (a task created, renamed or deleted, events dropped, a record changed, a lease given or ended) has a number
// of its own and says which events came before it. Threads: value.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/task.h"
#include "store/event_batch.h"

namespace shepherd {

// A place in the change stream: every event up to `position` and every change up to `change` is behind it.
struct Place {
  std::uint64_t position = 0;
  std::uint64_t change = 0;

  friend bool operator==(const Place&, const Place&) = default;
  // Whether this place is at least as far as the other one.
  bool covers(const Place& other) const { return position >= other.position && change >= other.change; }
};
std::string encode_place(const Place& place);  // "P.C"
// Reads "P", too, which is a place before any change.
std::optional<Place> decode_place(std::string_view text);

enum class ChangeKind : std::uint8_t {
  task_created,
  task_changed,
  task_deleted,
  events_dropped,
  record_changed,
  lease_changed
};

struct Change {
  std::uint64_t number = 0;  // 1, 2, 3, … without holes
  std::uint64_t after = 0;   // the events up to this position come before it
  ChangeKind kind = ChangeKind::task_changed;
  std::string name;  // the task's id, or the record's or lease's kind
  std::string key;   // of the record; the lease's name; events_dropped: the last sequence that is gone
};
constexpr bool is_of_task(ChangeKind kind) {
  return kind != ChangeKind::record_changed && kind != ChangeKind::lease_changed;
}

using RowPtr = std::shared_ptr<const TaskRow>;

// What a write() committed.
struct Commit {
  std::vector<BatchPtr> batches;
  std::vector<Change> changes;
  std::vector<RowPtr> rows;  // every task with a batch or a change in it, as the commit left it; not those it deleted
  Place before, through;
};

// A part of the stream as the store keeps it. Batches and changes are ascending; a change comes after the batches up to
// its `after`.
struct ChangePage {
  std::vector<BatchPtr> batches;  // the first one may begin before the requested place
  std::vector<Change> changes;
  Place through;  // where the next page starts
  Place newest;   // the end of the stream at the time of this read
  // Changes after the requested place are no longer kept, so read all state again. The page skips changes up to the
  // newest one but no event: those that are still kept follow as usual.
  bool lost = false;
};

// Cuts both lists so that they are one unbroken part of the stream, and sets `through`. `more_batches` and
// `more_changes` say that a list stopped at its limit; otherwise it reaches page.newest.
void align(ChangePage& page, Place after, bool more_batches, bool more_changes);

}  // namespace shepherd
