#include "outbound/callback_store.h"

#include <algorithm>

#include "outbound/limits.h"

namespace shepherd {
namespace {

// nullopt if there is no such task.
Result<std::optional<std::int64_t>> creation_of(WriteTxn& txn, const std::string& task) {
  auto row = txn.row(task);
  if (row) return row->created_ms;
  if (row.error().code == ErrorCode::not_found) return std::nullopt;
  return fail(std::move(row.error()));
}

bool is_of(std::int64_t recorded_ms, std::int64_t created_ms) {
  return recorded_ms == 0 || recorded_ms == created_ms;
}

Result<void> put(WriteTxn& txn, const CallbackPlace& place, const CallbackRecord& record) {
  return txn.put_record(kCallbackRecords, record_key(place), encode_callback_record(record));
}

Result<void> remove(WriteTxn& txn, const CallbackPlace& place) {
  return txn.put_record(kCallbackRecords, record_key(place), "");
}

Result<std::optional<CallbackRecord>> stored_record(WriteTxn& txn, const CallbackPlace& place) {
  auto text = txn.record(kCallbackRecords, record_key(place));
  if (!text) return fail(std::move(text.error()));
  if (text->empty()) return std::nullopt;
  return decode_callback_record(*text);
}

bool is_held(const CallbackRecord& record, const CallbackClaimant& claimant, std::int64_t now_ms) {
  return !claimant.sole && record.claimed_ms != 0 && record.claimed_by != claimant.id &&
         now_ms < record.claimed_ms + kCallbackTakeover.count();
}

// First attempts keep the order of the log, and a task has one attempt at a time.
Result<bool> comes_later(WriteTxn& txn, const CallbackPlace& place, const KnownCallbacks& known,
                         const CallbackClaimant& claimant, std::int64_t now_ms) {
  // Another process may know more of the task's reports, or its end.
  auto cursor = txn.record(kCallbackCursors, place.task);
  if (!cursor) return fail(std::move(cursor.error()));
  if (decode_callback_cursor(*cursor).through > known.through) return true;
  if (std::ranges::find(known.places, CallbackPlace{place.task}) == known.places.end()) {
    auto end = stored_record(txn, {place.task});
    if (!end) return fail(std::move(end.error()));
    if (*end) return true;
  }
  for (const CallbackPlace& other : known.places) {
    if (other == place) continue;
    auto record = stored_record(txn, other);
    if (!record) return fail(std::move(record.error()));
    if (!*record || (*record)->state != CallbackRecord::State::pending) continue;
    if (is_held(**record, claimant, now_ms)) return true;
    if (other < place && (*record)->attempts == 0) return true;
  }
  return false;
}

}  // namespace

Result<void> add_callbacks(WriteTxn& txn, const NewCallbacks& found) {
  auto created = creation_of(txn, found.task);
  if (!created) return fail(std::move(created.error()));
  if (*created != found.created_ms) return {};
  auto end = stored_record(txn, {found.task});
  if (!end) return fail(std::move(end.error()));
  if (*end && is_of((*end)->created_ms, found.created_ms)) return {};  // nothing comes after it
  auto cursor = txn.record(kCallbackCursors, found.task);
  if (!cursor) return fail(std::move(cursor.error()));
  CallbackCursor kept = decode_callback_cursor(*cursor);
  if (!is_of(kept.created_ms, found.created_ms)) kept = {};
  for (const CallbackPlace& place : found.places) {
    if (place.sequence <= kept.through) continue;
    CallbackRecord record;
    record.created_ms = found.created_ms;
    if (auto added = put(txn, place, record); !added) return added;
  }
  if (!found.cursor || (!found.cursor->over && found.cursor->through <= kept.through)) return {};
  return txn.put_record(kCallbackCursors, found.task,
                        found.cursor->over ? std::string() : encode_callback_cursor(*found.cursor));
}

Result<void> drop_callbacks(WriteTxn& txn, const std::string& task, const std::set<CallbackPlace>& places) {
  auto created = creation_of(txn, task);
  if (!created) return fail(std::move(created.error()));
  for (const CallbackPlace& place : places) {
    auto record = stored_record(txn, place);
    if (!record) return fail(std::move(record.error()));
    if (!*record || (*created && (*record)->created_ms == **created)) continue;
    if (auto dropped = remove(txn, place); !dropped) return dropped;
  }
  auto cursor = txn.record(kCallbackCursors, task);
  if (!cursor) return fail(std::move(cursor.error()));
  if (cursor->empty() || (*created && decode_callback_cursor(*cursor).created_ms == **created)) return {};
  return txn.put_record(kCallbackCursors, task, "");
}

Result<CallbackClaim> claim_callback(WriteTxn& txn, const CallbackPlace& place, const KnownCallbacks& known,
                                     const CallbackClaimant& claimant, std::int64_t now_ms) {
  using Answer = CallbackClaim::Answer;
  auto created = creation_of(txn, place.task);
  if (!created) return fail(std::move(created.error()));
  auto record = stored_record(txn, place);
  if (!record) return fail(std::move(record.error()));
  if (!*record) return CallbackClaim{Answer::gone};
  if (!*created || !is_of((*record)->created_ms, **created)) {
    if (auto removed = remove(txn, place); !removed) return fail(std::move(removed.error()));
    return CallbackClaim{Answer::gone};
  }
  if (**created != known.created_ms) return CallbackClaim{Answer::behind};  // of another task with this id
  CallbackRecord mine = **record;
  if (mine.state != CallbackRecord::State::pending || mine.next_ms > now_ms || is_held(mine, claimant, now_ms)) {
    return CallbackClaim{Answer::wait, std::move(mine)};
  }
  auto later = comes_later(txn, place, known, claimant, now_ms);
  if (!later) return fail(std::move(later.error()));
  if (*later) return CallbackClaim{Answer::behind};
  mine.claimed_ms = now_ms;
  mine.claimed_by = claimant.id;
  mine.created_ms = **created;
  if (auto claimed = put(txn, place, mine); !claimed) return fail(std::move(claimed.error()));
  return CallbackClaim{Answer::granted, std::move(mine)};
}

Result<std::optional<CallbackRecord>> keep_outcome(WriteTxn& txn, const CallbackPlace& place,
                                                   const CallbackRecord& outcome, std::int64_t claimed_ms) {
  auto created = creation_of(txn, place.task);
  if (!created) return fail(std::move(created.error()));
  auto record = stored_record(txn, place);
  if (!record) return fail(std::move(record.error()));
  if (!*record || !is_of((*record)->created_ms, outcome.created_ms)) return std::nullopt;
  // A task that was deleted meanwhile must leave no record for a later task with the same id.
  bool deleted = !*created || **created != outcome.created_ms;
  bool ours = (*record)->claimed_by == outcome.claimed_by && (*record)->claimed_ms == claimed_ms;
  bool sent = outcome.state == CallbackRecord::State::sent;
  if (!deleted && ((*record)->state != CallbackRecord::State::pending || (!ours && !sent))) return record;
  bool keep = !deleted && (place.sequence == CallbackPlace::kEnd || outcome.state == CallbackRecord::State::pending);
  auto kept = keep ? put(txn, place, outcome) : remove(txn, place);
  if (!kept) return fail(std::move(kept.error()));
  if (!keep) return std::nullopt;  // a report leaves no record behind
  return outcome;
}

}  // namespace shepherd
