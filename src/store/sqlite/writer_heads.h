// The writer's cache of tasks: the fold and the producers' numbers. They change with every append but are written to
// the task's row only when its state changes, or from time to time. What is only in this cache can be folded again from
// the batches after the row's number.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "sqlite/database.h"
#include "store/append_plan.h"
#include "store/sqlite/batch_rows.h"
#include "store/sqlite/committed_heads.h"

namespace shepherd {

struct WriterHead {
  struct ProducerRow {
    std::int64_t key = 0;
    ProducerNumbers written;
  };

  std::string id;
  std::int64_t key = 0;
  std::int64_t created_ms = 0;
  TaskInfo info;
  TaskHead head;
  std::map<std::string, ProducerRow> producer_rows;
  // The values in the row on disk, to detect when it must be written immediately.
  State written_state = State::queued;
  std::string written_pr_url;

  std::vector<BatchPlace> unplaced;  // batches that are missing in the table run_place
  std::size_t unplaced_before = 0;   // number of them from earlier transactions
  bool placed = false;               // this transaction placed the batches of earlier ones

  bool dirty = false;         // the row is out of date
  bool stale = false;         // a transaction that changed it was rolled back
  std::uint64_t used_in = 0;  // number of the last transaction that used it
  std::uint64_t told_in = 0;  // number of the last transaction whose Commit has its row
  std::uint64_t part = 0;     // number of the last part that has a copy of it

  TaskRow row() const { return {info, head.state, created_ms}; }

  bool must_write() const { return head.state.state != written_state || head.state.pr_url != written_pr_url; }
};

// Threads: caller (the writer). Errors are the database's.
class WriterHeads {
 public:
  // After a rollback a head is loaded again from `committed`.
  WriterHeads(Database& database, const CommittedHeads& committed) : database_(database), committed_(committed) {}

  // A transaction is one begin() and then commit() or rollback(); all other calls are between them. After a rollback
  // the changed heads are loaded again before their next use.
  void begin();
  void commit();
  void rollback();
  // A part of a transaction that can be undone alone: begin_part(), then end_part() or undo_part().
  void begin_part();
  void end_part();
  void undo_part();

  // nullptr if the task does not exist. Loads it if it is not in memory. The caller may change it.
  Result<WriterHead*> find(const std::string& task);
  WriterHead& add(const Task& task, std::int64_t key);  // for a new task
  void erase(const std::string& task);                  // for a deleted task
  // The row changed in a way that the transaction's Commit reports.
  void tell(WriterHead& head) { head.told_in = transaction_; }
  bool told(const WriterHead& head) const { return head.told_in == transaction_; }

  // Updates the task's row and its producers' rows to the fold.
  Result<void> write(WriterHead& head);
  Result<void> write_dirty();

  // Adds a batch of this transaction. It is placed later, together with others of its task.
  void add_batch(WriterHead& head, BatchPlace place) { head.unplaced.push_back(place); }
  Result<void> place_batches(WriterHead& head);
  // Places the batches of the longest-waiting tasks, until at most `most` wait. `position` is the newest committed one.
  // Afterwards the database records the position up to which all batches are placed.
  Result<void> place_oldest(std::size_t most, std::uint64_t position);
  Result<void> place_all(std::uint64_t position);
  std::size_t unplaced() const { return unplaced_; }

  // The heads that this transaction changed so far, without the erased ones.
  const std::vector<WriterHead*>& changed() const { return changed_; }

  // Called between transactions. If there are more than `most` heads, drops the least recently used until three
  // quarters of `most` are left. Heads with unwritten changes stay. Returns the dropped tasks.
  std::vector<std::string> evict(std::size_t most);

  std::size_t size() const { return heads_.size(); }

 private:
  void change(WriterHead& head);
  void save(const std::string& task, const WriterHead* head);
  Result<std::unique_ptr<WriterHead>> load(const std::string& task);
  Result<void> load_producers(WriterHead& head);
  Result<void> fold_unprojected(WriterHead& head);
  Result<void> set_placed_through(std::uint64_t position);

  // A task with batches that have waited for their places since this position.
  struct Waiting {
    std::string task;
    std::uint64_t position;
  };
  bool still_waits(const Waiting& waiting) const;

  Database& database_;
  const CommittedHeads& committed_;
  std::unordered_map<std::string, std::unique_ptr<WriterHead>> heads_;
  // What a part found; nullptr: the task did not exist.
  struct Saved {
    std::string task;
    std::unique_ptr<WriterHead> head;
  };
  std::uint64_t transaction_ = 0;
  std::uint64_t parts_ = 0;
  bool in_part_ = false;
  std::vector<Saved> saved_;  // first one first
  std::vector<WriterHead*> changed_;
  std::vector<std::unique_ptr<WriterHead>> erased_;
  std::deque<Waiting> waiting_;    // ascending; tasks that no longer wait are skipped
  std::size_t waiting_taken_ = 0;  // number taken from the front by this transaction
  std::size_t unplaced_ = 0;       // number of batches without a place, as committed
};

}  // namespace shepherd
