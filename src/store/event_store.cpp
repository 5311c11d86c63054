#include "store/event_store.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace shepherd {

// The position alone would do if no transaction gave two leases. It is the least that an epoch may be because an
// earlier program gave the number of an event in its log, which no position is below.
Result<std::uint64_t> WriteTxn::next_epoch() {
  constexpr const char* kName = "lease_epoch";
  auto given = record(kCursors, kName);
  if (!given) return fail(std::move(given.error()));
  std::uint64_t last = 0;
  std::from_chars(given->data(), given->data() + given->size(), last);
  std::uint64_t epoch = std::max(last, position()) + 1;
  if (auto kept = keep_cursor(kName, std::to_string(epoch)); !kept) return fail(std::move(kept.error()));
  return epoch;
}

Result<void> WriteTxn::replace_record(const std::string& kind, const std::string& key, const std::string& expected,
                                      const std::string& value) {
  auto now = record(kind, key);
  if (!now) return fail(std::move(now.error()));
  if (*now != expected) {
    return fail(ErrorCode::conflict, "record_changed", "The record " + kind + "/" + key + " has changed meanwhile.");
  }
  return put_record(kind, key, value);
}

}  // namespace shepherd
