// Converts events to ledger entries: what every batch adds.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/result.h"
#include "model/task.h"
#include "store/event_batch.h"
#include "store/event_store.h"
#include "store/ledger.h"

namespace shepherd {

// An agent reports money and tokens as running totals, so a batch adds the difference of two folds: the task's state
// before and after it. This class remembers the states of active tasks and reads others from the ledger, where every
// batch stores them. Threads: caller.
class Bookkeeping {
 public:
  Bookkeeping(const EventStore& store, const Ledger& ledger) : store_(store), ledger_(ledger) {}

  // Adds the part of the batch after position `after`. A deleted task adds nothing.
  Result<void> enter(LedgerBatch& batch, const EventBatch& stored, std::uint64_t after);
  // Puts the changed states into the batch.
  void leave_states(LedgerBatch& batch);
  // The batch was not written, so the remembered states differ from the ledger's.
  void start_over();
  void forget_task(const std::string& task) { open_.erase(task); }

 private:
  struct Book {
    TaskState state;
    LedgerWho asked;      // of the task itself; the session supplies a model that the task does not name
    bool unknown = true;  // not in the ledger
    bool changed = false;
  };
  Result<Book*> book_of(const EventBatch& stored);
  void enter_event(LedgerBatch& batch, const EventBatch& stored, std::size_t i);
  void enter_result(ToolUse& use, const EventBatch& stored, std::string_view event);

  const EventStore& store_;
  const Ledger& ledger_;
  std::unordered_map<std::string, Book> open_;
  std::unordered_map<std::string, std::int64_t> calls_;  // start times by task and call id
};

}  // namespace shepherd
