// What callbacks keep in the store: a record for each one, and how far a task's reports have been processed. These
// functions run in a transaction and decide by what is stored, not by what a process remembers, so several processes
// over one store agree: a callback is added once, and one process at a time makes an attempt.
// Threads: caller.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "outbound/callback_record.h"
#include "store/event_store.h"

namespace shepherd {

inline constexpr const char* kCallbackRecords = "callback";
inline constexpr const char* kCallbackCursors = "callback_cursor";

// What a look at a task's log found.
struct NewCallbacks {
  std::string task;
  std::int64_t created_ms = 0;        // of the task
  std::vector<CallbackPlace> places;  // ascending
  std::optional<CallbackCursor> cursor;
};
// Adds those that are not known already. Does nothing if the task was deleted or replaced meanwhile.
Result<void> add_callbacks(WriteTxn& txn, const NewCallbacks& found);

// Removes the callbacks of a deleted task. Those of a newer task with its id stay.
Result<void> drop_callbacks(WriteTxn& txn, const std::string& task, const std::set<CallbackPlace>& places);

struct CallbackClaimant {
  std::string id;
  bool sole = true;  // claims of others are void
};
// What a process knows of a task's callbacks.
struct KnownCallbacks {
  std::int64_t created_ms = 0;  // of the task
  std::vector<CallbackPlace> places;
  std::uint64_t through = 0;  // how far it has processed the task's reports
};
struct CallbackClaim {
  enum class Answer : std::uint8_t { granted, wait, behind, gone };
  Answer answer = Answer::granted;
  CallbackRecord record = {};  // granted, wait: as stored now
};
// Claims an attempt. wait: the record says until when (another process makes an attempt or has made one). behind:
// another callback of the task comes first, or this process does not know all of them yet. gone: there is nothing to
// send.
Result<CallbackClaim> claim_callback(WriteTxn& txn, const CallbackPlace& place, const KnownCallbacks& known,
                                     const CallbackClaimant& claimant, std::int64_t now_ms);

// Stores the outcome of a claimed attempt and returns the record as it is then; nullopt if there is none any more.
// `claimed_ms` is the claim's. If another process has taken over, only a success is stored.
Result<std::optional<CallbackRecord>> keep_outcome(WriteTxn& txn, const CallbackPlace& place,
                                                   const CallbackRecord& outcome, std::int64_t claimed_ms);

}  // namespace shepherd
