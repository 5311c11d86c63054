// The store: the truth. Every task has one append-only log, numbered 1, 2, 3, … without holes; all logs together have
// a global position, numbered the same way in commit order.
//
// Writing is one transaction at a time: write() runs a function over a WriteTxn and commits what it did, or nothing.
// Group commit is the caller's (journal/writer.h): it puts many operations into one write(). A refused operation
// (duplicate number, unknown task) changes nothing and does not spoil the transaction; a failed commit, or an exception
// of the function, loses all of it and leaves the store as it was.
// Reading sees only what was committed.
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
#include "store/event_batch.h"
#include "store/lease_fence.h"

namespace shepherd {

// Who numbered the drafts of an append.
//   none    drafts have no numbers, or they are ignored; event_id deduplicates
//   strict  numbers start at 1 and have no hole (Shepherd-Producer header); `id` names the spool
//   loose   numbers come as they come (fire and forget); a known number with equal content is a repeat, with other
//           content it is appended all the same: nothing is lost
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
  bool by_server = false;  // the server infers this (timeout, runner lost): a terminal status in it is `inferred`
  std::optional<LeaseFence> fence = {};  // refused with conflict/lease_lost when the task is no longer that lease's
  // How long after the task's own end it may have been received: it is then appended with `late`. Not for strict ones.
  std::int64_t late_within_ms = 0;
};

struct Appended {
  std::uint64_t last_sequence = 0;      // the log's last number after this append
  std::uint64_t producer_sequence = 0;  // the producer's highest number; 0: none
  std::uint64_t added = 0;              // how many drafts were new
};

struct Created {
  Task task;
  bool existed = false;  // same id or key with the same body: the earlier task
};

// What one transaction may do. Valid only inside write()'s function. Threads: caller.
class WriteTxn {
 public:
  virtual ~WriteTxn() = default;

  // spec.id must be set. Same id or idempotency_key with the same spec: the known task; with another: conflict
  // (task_exists or idempotency_key_reused).
  virtual Result<Created> create_task(const TaskSpec& spec, std::int64_t created_ms,
                                      const std::string& idempotency_key) = 0;
  // The task as this transaction sees it, its own changes included.
  virtual Result<Task> task(const std::string& id) = 0;
  // Replaces title and labels. Other members of `spec` must be unchanged.
  virtual Result<Task> update_task(const TaskSpec& spec) = 0;
  // Erases log, details, producers, the task itself.
  virtual Result<void> delete_task(const std::string& task) = 0;

  // Numbers and appends the new drafts of the request, skipping repeats, and folds them into the task's state.
  // Errors: not_found/unknown_task; conflict/sequence_hole with expectedSequence; conflict/sequence_reused;
  // gone/task_ended with currentState, when new drafts come after the producer's own terminal status. After an
  // inferred end, and within late_within_ms of any, drafts are appended with `late`. All or nothing.
  virtual Result<Appended> append(const AppendRequest& request) = 0;

  // Drops the oldest batches of a task through sequence `through` (whole ones only); the log then starts later.
  virtual Result<void> drop_through(const std::string& task, std::uint64_t through) = 0;

  // Small named records that belong to the installation (tokens, …): put replaces, an empty value removes.
  virtual Result<void> put_record(const std::string& kind, const std::string& key, const std::string& value) = 0;
};

// What a write() committed, for hub and bus: every batch in commit order, and the tasks whose row changed.
struct Commit {
  std::vector<BatchPtr> batches;
};

struct Page {
  std::vector<BatchPtr> batches;  // ascending; the first may begin before and the last end after what was asked
  std::uint64_t first = 0;        // oldest number still kept (task: sequence; all: position); 0: nothing is
  std::uint64_t head = 0;         // newest number, as of this read
  std::string complete;           // task reads: data of task_complete when the task is terminal
};

// 0: kMaxPageEvents, kMaxPageBytes.
struct ReadLimit {
  std::size_t events = 0;
  std::size_t bytes = 0;  // at least one batch is returned however large
};

struct TaskFilter {
  std::optional<State> state{};
  bool active = false;                                                           // not terminal
  std::string agent{}, workflow{}, repo{}, issue{}, fleet{}, session{}, text{};  // task_match.h says what they mean
  std::map<std::string, std::string> labels{};                                   // all must match
  std::string before{};  // page: tasks that sort after this id in newest-first order; empty: from the newest
  std::size_t limit = 100;
};

// A batch's vital facts without its bytes, for retention.
struct BatchInfo {
  std::string task;
  std::uint64_t first = 0, last = 0;
  std::int64_t received_ms = 0;
  std::uint64_t bytes = 0;
};

struct StoreStats {
  std::uint64_t tasks = 0, events = 0;  // events: kept now
  std::uint64_t bytes = 0;              // on disk, all files of the store
  std::uint64_t wal_bytes = 0;
  std::uint64_t content_bytes = 0;  // what is kept, without the log that is on its way and without free space
  std::uint64_t detail_bytes = 0;   // compressed
};

// Threads: write() from one thread at a time; everything else from any.
class EventStore {
 public:
  virtual ~EventStore() = default;

  virtual Result<Commit> write(const std::function<void(WriteTxn&)>& operations) = 0;

  // Events with sequence > after, ascending, one page at most. Unknown task: not_found/unknown_task.
  virtual Result<Page> read(const std::string& task, std::uint64_t after, ReadLimit limit) const = 0;
  // The newest events with sequence < before (0: the log's end), still ascending.
  virtual Result<Page> read_before(const std::string& task, std::uint64_t before, ReadLimit limit) const = 0;
  // Events of all logs with position > after, in commit order.
  virtual Result<Page> read_all(std::uint64_t after, ReadLimit limit) const = 0;
  // Newest sequence of each named task that exists; "" asks for the newest global position.
  virtual Result<std::map<std::string, std::uint64_t>> heads(const std::vector<std::string>& tasks) const = 0;

  virtual Result<Task> task(const std::string& id) const = 0;
  // Newest first by (created, id).
  virtual Result<std::vector<Task>> tasks(const TaskFilter& filter) const = 0;
  // The detail JSON of one event; not_found/no_detail when it has none (or it was dropped).
  virtual Result<std::string> detail(const std::string& task, std::uint64_t sequence) const = 0;

  virtual Result<std::map<std::string, std::string>> records(const std::string& kind) const = 0;

  // Oldest batches first, over all tasks, for retention.
  virtual Result<std::vector<BatchInfo>> oldest_batches(std::size_t limit) const = 0;
  virtual Result<StoreStats> stats() const = 0;
};

}  // namespace shepherd
