// The store is the truth. Every task has one append-only log, numbered 1, 2, 3, … without holes. A global position
// numbers the events of all logs the same way, in commit order.
//
// Only one transaction writes at a time: write() runs a function over a WriteTxn and commits everything it did, or
// nothing. Group commit is up to the caller: journal/writer.h puts many operations into one write(). A refused
// operation (duplicate number, unknown task) changes nothing and does not affect the rest of the transaction. A failed
// commit, or an exception of the function, leaves the store as it was. Reads see only committed data.
//
// Everything that changes can be followed: a Commit says which events, tasks and records it changed, and the store
// keeps that, too, so that a reader that was away continues at its Place (store/change.h).
//
// Failures: not_found, conflict, gone, too_large from single operations; unavailable (locked, I/O), storage_full and
// internal (corrupt) from write() and from reads.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/draft.h"
#include "model/task.h"
#include "store/change.h"
#include "store/event_batch.h"
#include "store/lease.h"
#include "store/lease_fence.h"

namespace shepherd {

// The kind of producer decides how an append's own numbers are used.
//   none    drafts have no numbers, or they are ignored; event_id deduplicates
//   strict  numbers start at 1 and have no hole (Shepherd-Producer header); `id` names the spool
//   loose   numbers arrive in any order (fire and forget); a known number with equal content is a repeat; with
//           different content the event is still appended, so nothing is lost
enum class ProducerKind { none, strict, loose };
struct Producer {
  ProducerKind kind = ProducerKind::none;
  std::string id;  // strict only
};

struct AppendRequest {
  std::string task;
  Producer producer;
  DraftBatch drafts;
  std::int64_t received_ms = 0;
  // The server inferred this (timeout, runner lost): a terminal status in it is an inferred end.
  bool by_server = false;
  // If set and the task no longer has that lease, the append is refused with conflict/lease_lost.
  std::optional<LeaseFence> fence = {};
  // Accepts new drafts, marked `late`, until this long after the task's own end. Not for strict producers.
  std::int64_t late_within_ms = 0;
};

struct Appended {
  std::uint64_t last_sequence = 0;      // the log's last number after this append
  std::uint64_t producer_sequence = 0;  // the producer's highest number, or 0
  std::uint64_t added = 0;              // number of new drafts
};

struct Created {
  Task task;
  bool existed = false;  // same id or key with the same body; `task` is the earlier one
};

// A task's state after one of its events, so that the state at an event is found without folding the whole log.
struct Checkpoint {
  TaskState state;    // state.last_sequence is the event's number
  bool whole = true;  // false if it was folded after retention had dropped the log's beginning, which it lacks
};

// The operations of one transaction. Valid only inside write()'s function. Threads: caller.
class WriteTxn {
 public:
  virtual ~WriteTxn() = default;

  // spec.id must be set. If a task with the same id or idempotency_key exists, returns it if its spec is equal,
  // otherwise fails with conflict (task_exists or idempotency_key_reused).
  virtual Result<Created> create_task(const TaskSpec& spec, std::int64_t created_ms,
                                      const std::string& idempotency_key) = 0;
  // The task as this transaction sees it, including its own changes; task() adds the payload, which it reads from disk.
  virtual Result<TaskRow> row(const std::string& id) = 0;
  virtual Result<Task> task(const std::string& id) = 0;
  // Replaces title and labels. Other members of `spec` must be unchanged.
  virtual Result<Task> update_task(const TaskSpec& spec) = 0;
  // Deletes the task with its log, details and producers. From the commit on no reader finds any of it, and a new task
  // of this id has nothing to do with it. What a store keeps for later, so that the commit is short, are leftovers.
  virtual Result<void> delete_task(const std::string& task) = 0;
  // Removes leftovers of deleted tasks, at most about `rows` of them. Returns whether there are more.
  virtual Result<bool> erase_leftovers(std::size_t rows) = 0;

  // Numbers and appends the new drafts of the request, skips repeats, and folds the new ones into the task's state.
  // Either all drafts are accepted or none. Errors: not_found/unknown_task; conflict/sequence_hole with
  // expectedSequence; conflict/sequence_reused; gone/task_ended with currentState for new drafts after the producer's
  // own terminal status. After an inferred end, and within late_within_ms of any end, drafts are appended with `late`.
  virtual Result<Appended> append(const AppendRequest& request) = 0;

  // Drops a task's oldest batches that end at or before sequence `through`, and the checkpoints that no longer lead to
  // a kept event. The log then starts later.
  virtual Result<void> drop_through(const std::string& task, std::uint64_t through) = 0;

  // Adds a checkpoint that a reader folded. append() adds one whenever a log passes a multiple of kCheckpointEvents,
  // but a log that an earlier program wrote has none. `created_ms` shows that it still is the same task. A checkpoint
  // that is of another task, of an event that is not in the log, or already there changes nothing.
  virtual Result<void> add_checkpoint(const std::string& task, std::int64_t created_ms,
                                      const Checkpoint& checkpoint) = 0;

  // A small named record of the installation (tokens, …), with the changes of this transaction; empty: there is none.
  virtual Result<std::string> record(const std::string& kind, const std::string& key) = 0;
  // Replaces a record; an empty value removes it.
  virtual Result<void> put_record(const std::string& kind, const std::string& key, const std::string& value) = 0;
  // The same if the record still is `expected`; conflict/record_changed otherwise.
  Result<void> replace_record(const std::string& kind, const std::string& key, const std::string& expected,
                              const std::string& value);
  // Keeps how far something has come (a follower's place, the service clock) as a record of kind kCursors. It is not a
  // change that anyone follows; otherwise a follower would follow itself.
  virtual Result<void> keep_cursor(const std::string& name, const std::string& value) = 0;

  // The leases of this name, with the changes of this transaction, by holder. Deleting a task ends those on it.
  virtual Result<std::vector<Lease>> leases(LeaseKind kind, const std::string& name) = 0;
  // All whose end is at or before `now_ms`, of every kind, at most `limit`.
  virtual Result<std::vector<Lease>> leases_over(std::int64_t now_ms, std::size_t limit) = 0;
  virtual Result<void> put_lease(const Lease& lease) = 0;
  virtual Result<void> end_lease(const LeaseKey& key) = 0;  // none: changes nothing
  // Moves the lease's end and returns true; false if there is none with this epoch. Not a change that anyone follows.
  virtual Result<bool> renew_lease(const LeaseRenewal& renewal) = 0;
  // The next lease's epoch: greater than every one that was given before, also to a task that is deleted, and than the
  // number of every event. Not a change that anyone follows.
  Result<std::uint64_t> next_epoch();

  // Of the newest event before this transaction.
  virtual std::uint64_t position() const = 0;

  // Runs the function as one operation: if it fails, everything that it did in this transaction is undone, and the rest
  // of the transaction stays. Must not be nested.
  virtual Result<void> atomically(const std::function<Result<void>(WriteTxn&)>& operation) = 0;
};

inline constexpr const char* kCursors = "cursor";

struct Page {
  std::vector<BatchPtr> batches;  // ascending; the first and the last may extend beyond the requested range
  std::uint64_t first = 0;        // oldest number still kept (task: sequence; all: position); 0: none
  std::uint64_t head = 0;         // newest number at the time of this read
  std::string complete;           // task reads: data of task_complete if the task is terminal
};

// 0 means kMaxPageEvents or kMaxPageBytes.
struct ReadLimit {
  std::size_t events = 0;
  std::size_t bytes = 0;  // at least one batch is returned, however large
};

struct TaskFilter {
  std::optional<State> state{};
  bool active = false;                                                           // not terminal
  std::string agent{}, workflow{}, repo{}, issue{}, fleet{}, session{}, text{};  // task_match.h defines their meaning
  std::map<std::string, std::string> labels{};                                   // all must match
  std::string before{};  // page: tasks after this place in newest-first order; empty: from the newest
  std::size_t limit = 100;
};

// The facts that retention needs about a batch, without its bytes.
struct BatchInfo {
  std::string task;
  std::uint64_t first = 0, last = 0;
  std::int64_t received_ms = 0;
  std::uint64_t bytes = 0;
};

struct StoreStats {
  std::uint64_t tasks = 0, events = 0;  // events: still kept
  std::uint64_t bytes = 0;              // size on disk of all files of the store
  std::uint64_t wal_bytes = 0;
  std::uint64_t content_bytes = 0;   // size of the data, without write-ahead log and free pages, with leftovers
  std::uint64_t detail_bytes = 0;    // compressed, with leftovers
  std::uint64_t leftover_tasks = 0;  // deleted tasks whose leftovers are not all erased
};

// Threads: write() from one thread at a time; everything else from any.
class EventStore {
 public:
  virtual ~EventStore() = default;

  virtual Result<Commit> write(const std::function<void(WriteTxn&)>& operations) = 0;

  // Returns at most one page of events with sequence > after, ascending. Unknown task: not_found/unknown_task.
  virtual Result<Page> read(const std::string& task, std::uint64_t after, ReadLimit limit) const = 0;
  // The newest events with sequence < before (0: the log's end), also ascending.
  virtual Result<Page> read_before(const std::string& task, std::uint64_t before, ReadLimit limit) const = 0;
  // Events of all logs with position > after, in commit order.
  virtual Result<Page> read_all(std::uint64_t after, ReadLimit limit) const = 0;
  // The newest sequence of each named task that exists; "" stands for the newest global position.
  virtual Result<std::map<std::string, std::uint64_t>> heads(const std::vector<std::string>& tasks) const = 0;

  // What follows `after`, in commit order, at most one page of it.
  virtual Result<ChangePage> changes(Place after, ReadLimit limit) const = 0;
  virtual Result<Place> newest_place() const = 0;

  virtual Result<Task> task(const std::string& id) const = 0;
  virtual Result<TaskRow> row(const std::string& id) const = 0;
  // Newest first by (created, id).
  virtual Result<std::vector<TaskRow>> rows(const TaskFilter& filter) const = 0;
  // The detail JSON of one event; not_found/no_detail if it has none or the detail was dropped.
  virtual Result<std::string> detail(const std::string& task, std::uint64_t sequence) const = 0;

  // The newest checkpoint at or before event `at`; nullopt if there is none.
  virtual Result<std::optional<Checkpoint>> checkpoint(const std::string& task, std::uint64_t at) const = 0;

  virtual Result<std::map<std::string, std::string>> records(const std::string& kind) const = 0;
  virtual Result<std::string> record(const std::string& kind, const std::string& key) const = 0;  // empty: none

  virtual Result<std::vector<Lease>> leases(LeaseKind kind) const = 0;                           // by name and holder
  virtual Result<std::vector<Lease>> leases(LeaseKind kind, const std::string& name) const = 0;  // by holder

  // Oldest batches first, over all tasks, for retention.
  virtual Result<std::vector<BatchInfo>> oldest_batches(std::size_t limit) const = 0;
  virtual Result<StoreStats> stats() const = 0;
};

}  // namespace shepherd
