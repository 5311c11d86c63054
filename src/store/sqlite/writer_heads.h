// The writer's own memory of tasks: the fold and the producers' numbers, which change with every append but are written
// to the task's row only when its state changes, or now and then. What is only here can always be folded again from the
// batches after the row's number.
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
  TaskHead head;
  std::map<std::string, ProducerRow> producer_rows;
  // What the row on disk says, to see when it must be written at once.
  State written_state = State::queued;
  std::string written_pr_url;

  std::vector<BatchPlace> unplaced;  // batches that the table run_place does not have
  std::size_t unplaced_before = 0;   // of them, from earlier transactions
  bool placed = false;               // this transaction wrote those of the earlier ones

  bool dirty = false;         // the row is behind
  bool stale = false;         // a transaction that changed it was rolled back
  std::uint64_t used_in = 0;  // number of the last transaction that changed it

  bool must_write() const { return head.state.state != written_state || head.state.pr_url != written_pr_url; }
};

// Threads: caller (the writer). Errors are the database's.
class WriterHeads {
 public:
  // `committed` is what a head is loaded from again after a rollback.
  WriterHeads(Database& database, const CommittedHeads& committed) : database_(database), committed_(committed) {}

  // A transaction is one begin() and then commit() or rollback(); all the rest happens between them. After a rollback
  // the heads it changed are loaded again before their next use.
  void begin();
  void commit();
  void rollback();

  // nullptr: there is no such task. Loads it when it is not in memory. The caller may change it.
  Result<WriterHead*> find(const std::string& task);
  WriterHead& add(const std::string& task, std::int64_t key);  // a new task
  void erase(const std::string& task);                         // a deleted one

  // Brings the task's row and its producers' rows up to the fold.
  Result<void> write(WriterHead& head);
  Result<void> write_dirty();

  // A batch of this transaction. It is placed later, with others of its task.
  void add_batch(WriterHead& head, BatchPlace place) { head.unplaced.push_back(place); }
  Result<void> place_batches(WriterHead& head);
  // Places the batches of the tasks that wait longest, until at most `most` wait. `position` is the newest committed
  // one; the database then knows up to which position all batches are placed.
  Result<void> place_oldest(std::size_t most, std::uint64_t position);
  Result<void> place_all(std::uint64_t position);
  std::size_t unplaced() const { return unplaced_; }

  // What this transaction changed so far; erased ones are not among them.
  const std::vector<WriterHead*>& changed() const { return changed_; }

  // Between transactions: drops the least recently used beyond three quarters of `most`, when there are more than
  // `most`. Those with something still to write stay. Returns the dropped tasks.
  std::vector<std::string> evict(std::size_t most);

  std::size_t size() const { return heads_.size(); }

 private:
  void change(WriterHead& head);
  Result<std::unique_ptr<WriterHead>> load(const std::string& task);
  Result<void> load_producers(WriterHead& head);
  Result<void> fold_unprojected(WriterHead& head);
  Result<void> set_placed_through(std::uint64_t position);

  // A task that has waited for its batches to be placed since this one.
  struct Waiting {
    std::string task;
    std::uint64_t position;
  };
  bool still_waits(const Waiting& waiting) const;

  Database& database_;
  const CommittedHeads& committed_;
  std::unordered_map<std::string, std::unique_ptr<WriterHead>> heads_;
  std::uint64_t transaction_ = 0;
  std::vector<WriterHead*> changed_;
  std::vector<std::unique_ptr<WriterHead>> erased_;
  std::deque<Waiting> waiting_;    // ascending; those that no longer wait are skipped
  std::size_t waiting_taken_ = 0;  // from its front, by this transaction
  std::size_t unplaced_ = 0;       // batches, as committed
};

}  // namespace shepherd
