// From events to entries of the ledger: what every batch adds.
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

// Money and tokens of a task come as running totals, so what a batch adds is the difference of two folds: the task's
// state before and after it. It remembers the states of tasks that are under way; others are read from the ledger,
// where every batch leaves them. Threads: caller.
class Bookkeeping {
 public:
  Bookkeeping(const EventStore& store, const Ledger& ledger) : store_(store), ledger_(ledger) {}

  // Adds the part of the batch behind position `after`. A task that is gone by now adds nothing.
  Result<void> enter(LedgerBatch& batch, const EventBatch& stored, std::uint64_t after);
  // Puts the states that changed into the batch.
  void leave_states(LedgerBatch& batch);
  // The batch was not written: what is remembered is not what the ledger has.
  void start_over();
  void forget_task(const std::string& task) { open_.erase(task); }

 private:
  struct Book {
    TaskState state;
    LedgerWho asked;      // of the task itself; a model that it does not name comes with the session
    bool unknown = true;  // to the ledger
    bool changed = false;
  };
  Result<Book*> book_of(const EventBatch& stored);
  void enter_event(LedgerBatch& batch, const EventBatch& stored, std::size_t i);
  void enter_result(ToolUse& use, const EventBatch& stored, std::string_view event);

  const EventStore& store_;
  const Ledger& ledger_;
  std::unordered_map<std::string, Book> open_;
  std::unordered_map<std::string, std::int64_t> calls_;  // when they began, by task and call id
};

}  // namespace shepherd
